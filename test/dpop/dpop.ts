import {
  defineFields,
  defineGrantCheck,
  definePlugin,
  defineTokenBinding,
  OAuthError,
  type Plugin,
  type ProofRequest,
} from '@grantry/core'
import { calculateJwkThumbprint, EmbeddedJWK, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import * as v from 'valibot'

const invalidProof = (reason: string): OAuthError =>
  new OAuthError('invalid_dpop_proof', 'The DPoP proof is not valid', {
    reason: `plugin:dpop:${reason}`,
    headers: { 'dpop-nonce': 'next' },
  })

/** The part of RFC 9449 that shows what a token binding can express. */
export const dpop = (): Plugin =>
  definePlugin('dpop', [
    defineFields({
      metadata: { dpop_signing_alg_values_supported: ['ES256'] },
      errors: { invalid_dpop_proof: { client: 400, bearer: 401 } },
    }),
    defineTokenBinding({
      member: 'jkt',
      scheme: 'DPoP',
      challenge: { algs: 'ES256' },
      exposedHeaders: ['dpop-nonce'],
      async prove({ header, method, url, accessToken }: ProofRequest, kit) {
        const proof = header('dpop')
        if (proof === null) return undefined
        const verified = await jwtVerify(proof, EmbeddedJWK, {
          typ: 'dpop+jwt',
          algorithms: ['ES256'],
          currentDate: new Date(kit.now() * 1000),
          maxTokenAge: 60,
        }).catch(() => undefined)
        if (verified === undefined) throw invalidProof('malformed')
        const { payload, protectedHeader } = verified
        const key = await calculateJwkThumbprint(protectedHeader.jwk ?? {})
        const ath = accessToken === undefined ? undefined : kit.sha256(accessToken)
        if (payload.htm !== method || payload.htu !== url || payload.ath !== ath) throw invalidProof('other_request')
        if (!(await kit.records.insert(`${key} ${payload.jti}`, true, kit.now() + 61))) throw invalidProof('replayed')
        return { key, headers: { 'dpop-nonce': 'next' } }
      },
    }),
    defineGrantCheck({
      grantTypes: ['authorization_code'],
      params: v.object({}),
      authorization: {
        params: v.object({ dpop_jkt: v.optional(v.string()) }),
        check: ({ params: { dpop_jkt: jkt } }) => (jkt === undefined ? undefined : { confirmation: { jkt } }),
      },
      check: () => undefined,
    }),
  ])

/** The same for a certificate, which an adapter would read from the connection. Its tokens keep the scheme `Bearer`. */
export const certificate = (): Plugin =>
  definePlugin('certificate', [
    defineTokenBinding({
      member: 'x5t#S256',
      bindsRefreshTokens: ({ clientId }) => clientId === 'web',
      prove({ header }) {
        const key = header('test-certificate')
        return key === null ? undefined : { key }
      },
    }),
  ])

/** A key, and the function that proves its possession. */
export interface KeyHolder {
  readonly thumbprint: string
  /** Returns the header `DPoP`. */
  proof(request: {
    readonly method: string
    readonly url: string
    readonly token?: string | undefined
    readonly at?: number
  }): Promise<string>
}

export async function keyHolder(): Promise<KeyHolder> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    async proof({ method, url, token, at = 1_800_000_000 }) {
      const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
      const ath = token === undefined ? {} : { ath: Buffer.from(hash).toString('base64url') }
      return new SignJWT({ htm: method, htu: url, ...ath })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
        .setJti(crypto.randomUUID())
        .setIssuedAt(at)
        .sign(privateKey)
    },
  }
}
