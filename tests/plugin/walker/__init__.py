import cypool

cypool.register("walker/Walk-v0", "walker.walk:Walk", max_episode_steps=20)
cypool.register("walker/Trouble-v0", "walker.trouble:Trouble")
