/** How a cookie is set, as `cookies()` of Next.js takes it. */
export interface CookieOptions {
  readonly httpOnly: true
  readonly secure: boolean
  readonly sameSite: 'lax'
  readonly path: '/'
  /** Seconds. 0 removes the cookie. */
  readonly maxAge: number
}

/** The cookies of a browser: `await cookies()` of `next/headers`. A server component can read them only: `set` throws. */
export interface Cookies {
  get(name: string): { readonly value: string } | undefined
  set(name: string, value: string, options: CookieOptions): unknown
}

/** A value in cookies, of which it takes as many as its length needs. */
export interface CookieValue {
  read(cookies: Cookies): string | undefined
  /** @param maxAge seconds */
  write(cookies: Cookies, value: string, maxAge: number): void
  remove(cookies: Cookies): void
}

/** Bytes of a value; browsers keep 4096 with the name and the attributes (RFC 6265 section 6.1). */
const maxLength = 3800
/** Servers refuse headers that are longer. */
const maxParts = 3

/**
 * @param name without the prefix
 * @param secure whether the site has TLS. The prefix `__Host-` keeps other hosts from setting the cookie (RFC 6265bis section 4.1.3.2)
 */
export function cookieValue(name: string, secure: boolean): CookieValue {
  const nameOf = (part: number): string => `${secure ? '__Host-' : ''}${name}${part === 0 ? '' : `.${part}`}`
  const options = { httpOnly: true, secure, sameSite: 'lax', path: '/' } as const
  const all = Array.from({ length: maxParts }, (_, part) => nameOf(part))

  function write(cookies: Cookies, value: string, maxAge: number): void {
    const parts = value.match(new RegExp(`.{1,${maxLength}}`, 'gu')) ?? []
    if (parts.length > maxParts) {
      throw new Error('signInClient(): the session is too long for cookies; keep it in a store: sessions')
    }
    for (const [index, part] of all.entries()) {
      const text = parts[index]
      if (text !== undefined) cookies.set(part, text, { ...options, maxAge })
      // Removes the parts that an earlier, longer value has left.
      else if (cookies.get(part) !== undefined) cookies.set(part, '', { ...options, maxAge: 0 })
    }
  }

  return {
    read(cookies) {
      const value = all.map((part) => cookies.get(part)?.value ?? '').join('')
      return value === '' ? undefined : value
    },
    write,
    remove: (cookies) => write(cookies, '', 0),
  }
}

/** The cookies of a request, and the headers that set them. */
export interface RequestCookies extends Cookies {
  readonly headers: () => readonly (readonly ['set-cookie', string])[]
}

/** Returns the cookies of a route handler. */
export function cookiesOf(request: Request): RequestCookies {
  const pairs = (request.headers.get('cookie') ?? '').split(/; */u).map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, Math.max(at, 0)), pair.slice(at + 1)] as const
  })
  const values = new Map(pairs)
  const lines = new Map<string, string>()
  return {
    get(name) {
      const value = values.get(name)
      return value === undefined ? undefined : { value }
    },
    set(name, value, { secure, maxAge }) {
      if (maxAge === 0) values.delete(name)
      else values.set(name, value)
      const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
      lines.set(name, `${name}=${value}; ${attributes}`)
    },
    headers: () => [...lines.values()].map((line) => ['set-cookie', line] as const),
  }
}
