"""Draws twelve levels of MiniGrid and BabyAI: the picture of docs/reference/minigrid.md.

    python tests/envs/minigrid/draw_levels.py docs/pictures/minigrid_levels.png

Needs `pip install "cypool[minigrid]" matplotlib`.
"""
import sys
import textwrap

import matplotlib.pyplot as plt

import cypool

LEVELS = ["MiniGrid-DoorKey-8x8-v0", "MiniGrid-FourRooms-v0", "MiniGrid-MultiRoom-N6-v0", "MiniGrid-KeyCorridorS4R3-v0",
          "MiniGrid-LavaCrossingS9N2-v0", "MiniGrid-Dynamic-Obstacles-8x8-v0", "MiniGrid-MemoryS13-v0",
          "MiniGrid-ObstructedMaze-2Dlhb-v1", "BabyAI-GoToLocal-v0", "BabyAI-PutNextLocal-v0",
          "BabyAI-UnlockToUnlock-v0", "BabyAI-BossLevel-v0"]


def main(path):
    figure, axes = plt.subplots(3, 4, figsize=(10, 9.6))
    for axis, id in zip(axes.flat, LEVELS, strict=True):
        with cypool.make(id, num_envs=1, seed=1, render_mode="rgb_array", tile_size=12) as env:
            mission = cypool.text(env.reset()[0]["mission"][0])
            axis.imshow(env.render()[0])
        axis.set_title(id, fontsize=7)
        axis.set_xlabel("\n".join(textwrap.wrap(mission, 44)[:3]), fontsize=6)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.tight_layout()
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1])
