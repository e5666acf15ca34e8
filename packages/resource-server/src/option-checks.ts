// Checks of options. A mistake in an option is a TypeError with one sentence, when the resource server is created.

/** @throws TypeError for members that are not in `names`, so that a mistyped option is not ignored. */
export function assertMembers(value: unknown, names: readonly string[], what: string): void {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${what} must be an object`)
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`${what} has no member ${unknown}`)
}

/** Returns a non-empty string. */
export function text(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${what} must be a non-empty string`)
  return value
}

/** Returns one string or several as a list. */
export function texts(value: unknown, what: string): readonly string[] {
  const list = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw new TypeError(`${what} must not be empty`)
  return list.map((entry) => text(entry, what))
}

/** Returns a number of seconds in a range. */
export function seconds(value: unknown, fallback: number, [min, max]: readonly [number, number], what: string): number {
  const duration = value ?? fallback
  if (typeof duration === 'number' && duration >= min && duration <= max) return duration
  throw new TypeError(`${what} must be a number of seconds from ${min} to ${max}`)
}

/** Asymmetric algorithms. `none` and the algorithms of a shared secret are not among them. */
const asymmetric = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519']

/** Returns a list of asymmetric algorithms. */
export function algorithms(value: unknown, fallback: readonly string[], what: string): readonly string[] {
  const list = texts(value ?? fallback, what)
  if (list.every((algorithm) => asymmetric.includes(algorithm))) return list
  throw new TypeError(`${what} must be some of ${asymmetric.join(', ')}`)
}

/** Whether a URL has https, or http on this machine, and no user. */
function isSafeUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, username, password } = new URL(url)
  // As `isLoopbackHost()` of the core, which this package does not import.
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]{1,4})\])$/u.test(hostname)
  return username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback))
}

/** Returns a URL that tokens or keys can be sent to. */
export function safeUrl(value: unknown, what: string): string {
  if (typeof value === 'string' && isSafeUrl(value)) return value
  throw new TypeError(`${what} must be a URL with https, or with http on localhost`)
}

const internalName = /^(?:[^.]+|.+\.(?:internal|local|localdomain|lan|svc|home\.arpa|cluster\.local))$/u
const internalAddress =
  /^(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$|^\[f[cd][\da-f:]+\]$/u

/** Returns a URL of a host in the network of the API, with http, or one of {@link safeUrl}. */
export function internalUrl(value: unknown, what: string): string {
  if (typeof value === 'string' && URL.canParse(value)) {
    const { protocol, hostname, username, password } = new URL(value)
    const isInternal = internalAddress.test(hostname) || (internalName.test(hostname) && !hostname.startsWith('['))
    if (protocol === 'http:' && username === '' && password === '' && isInternal) return value
  }
  if (typeof value === 'string' && isSafeUrl(value)) return value
  throw new TypeError(`${what} must be a URL with https, or with http and a host of the internal network`)
}
