/** Resident memory of this process; 0 while it is out of descriptors, for Node reads it from a file. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}
