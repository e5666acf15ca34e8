/** What a JWT says of itself, with nothing proved; `undefined` for what is no JWT. */
export function decodeToken(token: string): Readonly<Record<string, unknown>> | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'))
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims)
      ? (claims as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    // Not JSON: then it is no JWT.
    return undefined
  }
}
