"""The doors: mail, calendars and files. They bring artifacts in and know nothing of models."""
