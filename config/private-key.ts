import { createPrivateKey } from 'node:crypto';

/** Whether a GitHub App can sign with it: an RSA key in PEM, whole. */
export function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
