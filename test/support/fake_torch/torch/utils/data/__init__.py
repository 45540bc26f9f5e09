from .dataloader import DataLoader

__all__ = ["DataLoader"]
