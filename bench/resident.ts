/** Bytes that the server's process holds. */
export async function residentOf(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)![1]);
}
