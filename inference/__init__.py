"""Models and what is done with them: embedding, index, views, prompts, discovery rounds, proof, evaluation.

Nothing heavy is imported here, so that the command line starts at once.
"""
