const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

/** Whether a host, as one listens on it or as a URL names it, means this machine alone. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host);

/** Whether a URL means this machine alone. */
export const isLoopbackUrl = (url: string): boolean => isLoopbackHost(new URL(url).hostname);
