import { expect, test } from 'vitest';
import { isLoopbackHost, isLoopbackUrl } from '../../config/loopback.js';

test('this machine alone: names and addresses of loopback, and nothing that only looks like one', () => {
  for (const host of ['localhost', '127.0.0.1', '127.0.0.2', '::1', '[::1]']) expect(isLoopbackHost(host), host).toBe(true);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com', 'a127.0.0.1', '']) {
    expect(isLoopbackHost(host), host).toBe(false);
  }
  for (const url of ['http://localhost:7337', 'http://[::1]:80/a', 'https://127.1/']) expect(isLoopbackUrl(url), url).toBe(true);
  expect(isLoopbackUrl('https://localhost@example.com/')).toBe(false);
});
