import { sha1 } from '@noble/hashes/legacy.js'

/** @see https://haveibeenpwned.com/API/v3#PwnedPasswords */
export interface BreachedPasswordsOptions {
  /**
   * The URL that the first five digits of the SHA-1 are appended to. Default: that of Have I Been Pwned. The service learns
   * these digits only, which thousands of passwords share.
   */
  readonly url?: string | undefined
  /** Seconds. Default: 2. */
  readonly timeout?: number | undefined
  /** Replaces the request, for example to send it through a proxy. */
  readonly fetch?: typeof fetch | undefined
}

/** Digits that the service receives. */
const prefixLength = 5

/** Bytes. A response has about 40,000. */
const maxResponse = 1_000_000

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()

/**
 * Returns a function for `passwords.isCommon` of `selfService()`, which asks a service whether a password is in a known breach.
 * It rejects when the service fails; `selfService()` then accepts the password, and an event has the failure.
 */
export function breachedPasswords({
  url = 'https://api.pwnedpasswords.com/range/',
  timeout = 2,
  fetch: send = fetch,
}: BreachedPasswordsOptions = {}): (password: string) => Promise<boolean> {
  return async (password) => {
    const digits = hexOf(sha1(new TextEncoder().encode(password)))
    const response = await send(`${url}${digits.slice(0, prefixLength)}`, {
      // With lines of other counts, the size of the response reveals nothing.
      headers: { 'add-padding': 'true' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeout * 1000),
    })
    if (!response.ok) throw new Error(`The service for breached passwords has responded with ${response.status}`)
    const text = await response.text()
    if (text.length > maxResponse) throw new Error('The response of the service for breached passwords is too long')
    const rest = digits.slice(prefixLength)
    return text.split('\n').some((line) => {
      const [suffix = '', count = '0'] = line.trim().split(':')
      // Padding has the count 0.
      return suffix.toUpperCase() === rest && Number(count) > 0
    })
  }
}
