import {
  type ClientOptions,
  defineClientAuthentication,
  defineGrant,
  defineGrantCheck,
  definePlugin,
  OAuthError,
} from '@grantry/core'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, read, sha256Of } from '@grantry/testing'
import * as v from 'valibot'

export const grantType = 'urn:example:echo'
export const secrets = [{ sha256: sha256Of('web-secret') }]
export const common = { grantTypes: [grantType, 'refresh_token'], scopes: ['api1', 'offline_access'] }

const clients: readonly ClientOptions[] = [
  { ...common, clientId: 'web', secrets },
  { ...common, clientId: 'stamped' },
  { ...common, clientId: 'stamped-disabled', enabled: false },
]

/** What the grant and the check of the last provider have received. */
export const seen: unknown[] = []
const anyParameter = v.looseObject({})

export const echo = definePlugin('echo', [
  defineGrant({
    grantType,
    params: anyParameter,
    handle({ params, scopes, request }) {
      seen.push(params, request.header('authorization'))
      return { scopes, subject: { sub: '1', amr: ['pwd'] } }
    },
  }),
  defineGrantCheck({
    settles: 'proof_key',
    grantTypes: [grantType],
    params: anyParameter,
    check: ({ params }) => void seen.push(params),
  }),
])

/** The clients whose stamps the last provider has verified. */
export const verified: unknown[] = []

/** A stamp is the client id in capitals, with a number that differs for each request: `WEB-1`. */
export const stampMethod = defineClientAuthentication({
  method: 'stamp',
  consumes: ['stamp', 'stamp_type'],
  present({ stamp, stamp_type }) {
    if (stamp === undefined) return undefined
    const [text = '', number = ''] = stamp.split(/-(?=\d+$)/u)
    return { clientId: text.toLowerCase(), text, number, malformed: stamp_type === 'x' ? 'stamp_type' : undefined }
  },
  accepts: ({ clientId }) => clientId.startsWith('stamped'),
  async verify({ text, number }, client, kit) {
    verified.push(client?.clientId)
    if (text === 'THROWN') throw new OAuthError('invalid_client', 'A detail', { reason: 'plugin:stamps:thrown' })
    if (text === 'BROKEN') throw new Error('broken')
    if (text === 'ODD') return { reason: 1 } as unknown as { readonly reason: string }
    if (text !== client?.clientId.toUpperCase()) return { reason: 'wrong_stamp' }
    return (await kit.records.insert(`${text} ${number}`, true, kit.now() + 60)) || { reason: 'stamp_used' }
  },
})

export const stamps = definePlugin('stamps', [stampMethod])

export const setUp = (plugins: Parameters<typeof createTestProvider>[0]['plugins'] = [stamps]) => {
  seen.length = 0
  verified.length = 0
  return createTestProvider({ plugins: [echo, refreshToken(), plugins], clients })
}
type Provider = Awaited<ReturnType<typeof setUp>>

export const send = async (f: Provider, form: Record<string, string>, headers: Record<string, string> = {}) => {
  const body = new URLSearchParams({ grant_type: grantType, scope: 'api1', ...form })
  const request = new Request('https://id.example.com/connect/token', { method: 'POST', body, headers })
  return read(await f.provider.handlers.token(request, { clientAddress: '192.0.2.1' }))
}

export const lastReason = (f: Provider): unknown =>
  f.events.flatMap((event) => (event.type === 'client_authentication_failed' ? [event.reason] : [])).at(-1)
