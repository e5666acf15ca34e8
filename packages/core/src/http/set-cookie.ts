const maxLength = 4096

// RFC 6265 section 4.1.1: cookie-pair. Its octets exclude control characters, spaces, quotes, commas, semicolons and
// backslashes, so a value cannot end the header or add an attribute.
const pair = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+=(?:"[!#-+\--:<-[\]-~]*"|[!#-+\--:<-[\]-~]*)$/u

const attributes: readonly RegExp[] = [
  /^(?:Secure|HttpOnly|Partitioned)$/iu,
  /^SameSite=(?:Strict|Lax|None)$/iu,
  /^Path=\/[!-:<-~]*$/iu,
  /^Max-Age=-?\d{1,10}$/iu,
  /^Expires=[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT$/iu,
]

/**
 * Whether a text is a well-formed value of `Set-Cookie`, with attributes that browsers know, each at most once. `Domain` is
 * not allowed: it would send the cookie to every subdomain.
 */
export function isSetCookie(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > maxLength) return false
  const [first = '', ...rest] = text.split('; ')
  const names = rest.map((attribute) => attribute.replace(/=.*/u, '').toLowerCase())
  return (
    pair.test(first) &&
    rest.every((attribute) => attributes.some((form) => form.test(attribute))) &&
    new Set(names).size === names.length
  )
}
