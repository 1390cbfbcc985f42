"""Arrow: the columns of a schema, trees to arrays and back, and the frame of an IPC stream. Imports pyarrow."""
