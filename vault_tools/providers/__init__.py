"""Models that run outside the engine: embedders, rerankers, chat."""
