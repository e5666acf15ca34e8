import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { JsonObject } from '../json.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { Runtime } from '../runtime.ts'

/** `typ` of the two kinds of JWT, so that one is never taken for the other (RFC 9068 section 2.1; RFC 8725 section 3.11). */
export type TokenType = 'at+jwt' | 'JWT'

export const longestJwt = 51_200

// RFC 7515 section 5.2: no white space, no padding. A decoder that forgives them gives one token many spellings.
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/u

/** Signs and verifies with the provider's own keys. */
export interface Jwt {
  sign(claims: JsonObject, type: TokenType): Promise<string>
  /**
   * The claims, or `undefined` for whatever reason. Issuer, type, algorithm and times are judged; audience and the rest are the caller's.
   *
   * @param tolerance seconds by which the times may be missed; that of the provider unless said otherwise
   */
  verify(token: string, type: TokenType, tolerance?: number): Promise<JsonObject | undefined>
}

export function createJwt(deps: {
  readonly issuer: string
  readonly keys: KeyRing
  readonly clockTolerance: number
  readonly runtime: Runtime
}): Jwt {
  const { issuer, keys, clockTolerance, runtime } = deps
  const algorithms = [...keys.algorithms]

  return {
    sign: (claims, type) =>
      new SignJWT(claims as JWTPayload)
        .setProtectedHeader({ alg: keys.current.algorithm, kid: keys.current.kid, typ: type })
        .sign(keys.current.privateKey),

    async verify(token, type, tolerance = clockTolerance) {
      if (token.length > longestJwt || !compactForm.test(token)) return undefined
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid, alg }) => {
            const key = kid === undefined ? undefined : keys.find(kid)
            // A key verifies its own algorithm only, whatever the header asks for.
            if (key === undefined || key.algorithm !== alg) throw new TypeError('unknown key')
            return key.publicKey
          },
          {
            algorithms,
            issuer,
            typ: type,
            clockTolerance: tolerance,
            requiredClaims: ['exp', 'iat', 'nbf'],
            currentDate: new Date(runtime.now() * 1000),
          },
        )
        return payload as JsonObject
      } catch {
        // Whatever is wrong with a token that a stranger hands in, it is not valid.
        return undefined
      }
    },
  }
}
