import type { EndpointRequest } from '@grantry/core'

/** A cookie that only this host reads and sets. */
export interface BrowserCookie {
  /** `undefined` if the request has none, or two: another host may have set one of them. */
  read(request: EndpointRequest): string | undefined
  /** Returns the value of `Set-Cookie`. The browser keeps the cookie until it is closed. */
  write(value: string): string
  /** Returns the value of `Set-Cookie` that deletes the cookie. */
  clear(): string
}

/**
 * Creates a cookie with the prefix `__Host-`, which other hosts cannot set. With an `http` issuer, as on a development
 * machine, it has no prefix, because some browsers refuse `Secure` without TLS.
 *
 * @param value the form of its values
 * @see RFC 6265bis section 4.1.3.2
 */
export function browserCookie(issuer: string, name: string, value: RegExp): BrowserCookie {
  const isSecure = issuer.startsWith('https:')
  const fullName = `${isSecure ? '__Host-' : ''}${name}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    read(request) {
      const prefix = `${fullName}=`
      const pairs = (request.header('cookie') ?? '').split('; ').filter((pair) => pair.startsWith(prefix))
      const [found] = pairs
      if (found === undefined || pairs.length > 1) return undefined
      const text = found.slice(prefix.length)
      return value.test(text) ? text : undefined
    },
    write: (text) => `${fullName}=${text}; ${attributes}`,
    clear: () => `${fullName}=; ${attributes}; Max-Age=0`,
  }
}
