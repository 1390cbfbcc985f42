"""Floor 2: fixed layouts over struct and memoryview."""
