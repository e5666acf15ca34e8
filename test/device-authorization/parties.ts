import type { ClientOptions } from '@grantry/core'
import { deviceAuthorization, deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { type Credentials, createTestProvider, sha256Of, type TestProviderOptions } from '@grantry/testing'

export const tv: Credentials = ['tv', 'tv-secret']
/** The address of the user. */
export const address = '192.0.2.1'
export const alice = { sub: 'alice', amr: ['pwd'] }
export const verificationUri = 'https://example.com/device'

export const clients: readonly ClientOptions[] = [
  {
    clientId: tv[0],
    secrets: [{ sha256: sha256Of(tv[1]) }],
    grantTypes: [deviceGrantType, 'refresh_token'],
    scopes: ['openid', 'offline_access', 'api1'],
    accessTokenFormat: 'reference',
  },
  { clientId: 'lamp', public: true, grantTypes: [deviceGrantType], scopes: ['api1'] },
  { clientId: 'other', secrets: [{ sha256: sha256Of('s') }], grantTypes: [deviceGrantType], scopes: ['api1'] },
  { clientId: 'web', secrets: [{ sha256: sha256Of('s') }], grantTypes: ['refresh_token'], scopes: ['api1'] },
]

/** A provider with `tv` and other clients. `page` is the page where the user types the code. */
export async function setUp(more: Partial<TestProviderOptions> = {}) {
  const f = await createTestProvider({
    plugins: [deviceAuthorization({ verificationUri }), refreshToken()],
    clients,
    ...more,
  })
  const start = (form: Record<string, string> = { scope: 'api1' }, as: Credentials | null = tv) =>
    f.post('deviceAuthorization', form, as ?? undefined)
  const poll = (deviceCode: string, as: Credentials | undefined = tv, more: Record<string, string> = {}) =>
    f.post('token', { grant_type: deviceGrantType, device_code: deviceCode, ...more }, as)
  return { ...f, start, poll, page: f.provider.use(deviceVerification) }
}
