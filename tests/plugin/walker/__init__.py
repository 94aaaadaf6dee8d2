import cypool

cypool.register("walker/Walk-v0", "walker.walk:Walk", max_episode_steps=20)
cypool.register("walker/Trouble-v0", "walker.trouble:Trouble")
cypool.register("walker/Robot-v0", "walker.robot:Robot", max_episode_steps=200)
cypool.register("walker/Bare-v0", "walker.trouble:Bare")
cypool.register("walker/Caller-v0", "walker.trouble:Caller")
cypool.register("walker/Careless-v0", "walker.walk:Careless")
cypool.register("walker/Returns-v0", "walker.walk:Returns")
cypool.register("walker/Levers-v0", "walker.walk:Levers", max_episode_steps=20)
cypool.register("walker/Crowd-v0", "walker.agents:Crowd", max_episode_steps=30)
cypool.register("walker/Herd-v0", "walker.agents:Herd", max_episode_steps=30)
cypool.register("walker/Frames-v0", "walker.walk:Frames", max_episode_steps=9)
for fault in ("nothing", "space", "start", "gravity", "reward", "end", "stream"):
    cypool.register(f"walker/Pretender-{fault}-v0", "walker.walk:Pretender", max_episode_steps=200,
                    reference="gymnasium:MountainCar-v0", fault=fault)
