/** What `work` gives, or after `ms` what `late` gives (or throws) instead; the work itself goes on unheard. */
export async function within<T>(ms: number, work: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, passed.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
