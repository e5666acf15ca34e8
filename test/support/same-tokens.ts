import { createHash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose'

type TokenResponse = Readonly<Record<string, unknown>>

const isJwt = (value: unknown): value is string => typeof value === 'string' && /^[\w-]+(?:\.[\w-]+){2}$/u.test(value)

const atHashOf = (accessToken: unknown): string =>
  createHash('sha256').update(String(accessToken)).digest().subarray(0, 16).toString('base64url')

/** An identity token of a retry has its own times. */
const timed = ({ iat, nbf, exp, ...claims }: JWTPayload): JWTPayload => ({ ...claims, exp: Number(exp) - Number(iat) })

function decoded(jwt: string, accessToken: unknown) {
  const isIdentity = decodeProtectedHeader(jwt).typ === 'JWT'
  const { at_hash: atHash, ...claims } = isIdentity ? timed(decodeJwt(jwt)) : decodeJwt(jwt)
  // The hash includes the signature of the access token, if that is a JWT.
  const hash = atHash === undefined ? {} : { at_hash: isJwt(accessToken) ? atHash === atHashOf(accessToken) : atHash }
  return { header: decodeProtectedHeader(jwt), claims: { ...claims, ...hash } }
}

/**
 * Returns a token response with the header and claims of each JWT instead of its text, and without the times that count
 * from the response. A retry returns the same tokens, but signs JWTs again, and signatures of ES256 and PS256 are random.
 */
export const withoutSignatures = (response: TokenResponse): TokenResponse =>
  Object.fromEntries(
    Object.entries(response)
      .filter(([name]) => name !== 'expires_in')
      .map(([name, value]) => [name, isJwt(value) ? decoded(value, response.access_token) : value]),
  )

/** The different sets of tokens in these responses, each as text. */
export const differentTokens = (responses: readonly { readonly body: TokenResponse }[]): readonly string[] => [
  ...new Set(responses.map(({ body }) => JSON.stringify(withoutSignatures(body)))),
]
