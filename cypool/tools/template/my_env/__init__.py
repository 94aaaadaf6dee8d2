import cypool

cypool.register("my_env/MyEnv-v0", "my_env.my_env:MyEnv", max_episode_steps=500)
