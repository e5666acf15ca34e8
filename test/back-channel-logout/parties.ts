import type { ClientOptions } from '@grantry/core'
import { type BackChannelLogoutOptions, backChannelLogout } from '@grantry/plugins/back-channel-logout'
import { mapDriver, type TestProviderOptions } from '@grantry/testing'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { answer } from '../authorization/browser.ts'
import { redirectUri } from '../authorization/parties.ts'
import { type Browser, clients as others, setUpLogout } from '../end-session/parties.ts'
import { offerKit } from '../support/kit-of.ts'

export const logoutUri = 'https://client.example.com/backchannel_logout'
const secret = others[0]?.secrets ?? []

/** `web` and `shop` receive logout tokens. */
export const clients: readonly ClientOptions[] = [
  ...others.map((client) => ({ ...client, ...(client.clientId === 'web' && { backchannelLogoutUri: logoutUri }) })),
  {
    clientId: 'shop',
    secrets: secret,
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'api1'],
    redirectUris: [redirectUri],
    backchannelLogoutUri: 'https://shop.example.com/logout?tenant=1',
    backchannelLogoutSessionRequired: true,
  },
  {
    clientId: 'silent',
    secrets: secret,
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'api1'],
    redirectUris: [redirectUri],
  },
]

/** A request that a client has received. */
export interface Received {
  readonly url: string
  readonly init: RequestInit
  readonly form: URLSearchParams
}

/** The clients, as the provider reaches them. */
export function createReceivers() {
  const received: Received[] = []
  let respond = async (_url: string): Promise<Response> => new Response(null, { status: 200 })
  return {
    received,
    /** Determines the next responses. */
    respondWith(next: (url: string) => Promise<Response>) {
      respond = next
    },
    async fetch(url: string, init: RequestInit): Promise<Response> {
      received.push({ url, init, form: new URLSearchParams(String(init.body)) })
      return respond(url)
    },
    tokens: () => received.map(({ form }) => form.get('logout_token') ?? ''),
    claims: () => received.map(({ form }) => decodeJwt(form.get('logout_token') ?? '')),
    headers: () => received.map(({ form }) => decodeProtectedHeader(form.get('logout_token') ?? '')),
  }
}

/** A provider that notifies its clients, and its storage, which other providers can share. */
export async function setUpNotified(
  options: BackChannelLogoutOptions = {},
  more: Partial<TestProviderOptions> = {},
  receivers = createReceivers(),
) {
  const feature = backChannelLogout({ fetch: receivers.fetch, maxWait: 10, ...options })
  const f = await setUpLogout({ clients, ...more }, [feature, { parts: () => [offerKit('authorization-endpoint')] }])
  return {
    ...f,
    ...receivers,
    /** Lets a client get a code in the session of the browser. */
    visit: async (browser: Browser, clientId: string) => answer(await f.ask(browser, { client_id: clientId })),
  }
}

/** Records that several providers share. */
export const sharedStorage = (now: () => number) => mapDriver(new Map(), now)
