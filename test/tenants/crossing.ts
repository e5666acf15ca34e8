import { tenantsByHost } from '@grantry/core/tenants'
import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { accountPage } from '@grantry/plugins/account'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { dpop } from '@grantry/plugins/dpop'
import { endSession } from '@grantry/plugins/end-session'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { type MailMessage, selfService } from '@grantry/plugins/self-service'
import { signIn } from '@grantry/plugins/sign-in'
import { upstream } from '@grantry/plugins/upstream'
import { answer, createBrowser, hiddenFields } from '../authorization/browser.ts'
import { createHosts } from '../client-metadata/parties.ts'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'
import { builtInPlugins } from '../support/fixture.ts'
import { createOpenIdDouble } from '../upstream/openid-double.ts'
import { acmeOf } from '../upstream/parties.ts'
import { base, client, tenantsFixture } from './tenants-fixture.ts'

export const redirectUri = 'https://web.example.com/callback'
export const request = {
  response_type: 'code',
  client_id: 'web',
  redirect_uri: redirectUri,
  scope: 'openid',
  state: 's',
}

const pages = createPages({ locales: ['en'] })
const web = {
  ...client,
  grantTypes: ['authorization_code', 'password', 'refresh_token', deviceGrantType],
  redirectUris: [redirectUri],
  // Its identity tokens name the session.
  postLogoutRedirectUris: ['https://web.example.com/bye'],
  requirePkce: false,
  requireConsent: false,
}

const authenticate = ({ username, password }: { readonly username: string; readonly password: string }) =>
  password === `${username}-password` ? { sub: username } : undefined

export type Browser = ReturnType<typeof createBrowser>

/**
 * Two tenants with the same clients, users and providers, and each way to sign in. `ownTenant` is the tenant that issues something,
 * `otherTenant` the one at which it is presented.
 */
export async function crossing(by: 'path' | 'host') {
  const names = by === 'path' ? ['acme', 'beta'] : ['id.acme.example', 'id.beta.example']
  const [ownTenant, otherTenant] = names as [string, string]
  const issuerOf = (name: string): string => (by === 'path' ? `${base}/t/${name}` : `https://${name}`)
  const [ownIssuer, otherIssuer] = [issuerOf(ownTenant), issuerOf(otherTenant)]
  const mails: MailMessage[] = []
  const double = await createOpenIdDouble()
  const hosts = createHosts()
  const tenants = tenantsFixture({
    tenants: names,
    issuerOf,
    ...(by === 'host' && { tenantOf: tenantsByHost() }),
    options: { clients: [web], users: { authenticate } },
    pluginsOf(name) {
      const { store } = memoryAccounts([aliceAccount])
      const ways = [
        selfService({
          store,
          mailer: { send: (mail) => void mails.push(mail) },
          pages: createSelfServicePages({ locales: ['en'], host: new URL(issuerOf(name)).host }),
        }),
        upstream({ providers: [acmeOf(double)], fetch: double.fetch }),
      ]
      const features = [pushedAuthorization(), endSession({ pages }), accountPage({ pages: createAccountPages() })]
      return [
        builtInPlugins,
        dpop(),
        deviceAuthorization({ verificationUri: 'https://example.com/device' }),
        clientMetadata({ scopes: ['openid'], fetch: hosts.fetch }),
        authorizationEndpoint({ interaction: signIn({ pages, ways }), pages, features }),
      ]
    },
  })
  const browserAt = (issuer: string): Browser => createBrowser({ fetch: tenants.fetch, issuer })
  const urlAt = (issuer: string, more: Readonly<Record<string, string>> = {}): string =>
    `${issuer}/connect/authorize?${new URLSearchParams({ ...request, ...more })}`

  /** Signs alice in at her tenant. */
  async function signInAt(issuer: string, browser = browserAt(issuer)) {
    const form = hiddenFields(await browser.open(urlAt(issuer)))
    const done = await browser.submit(`${issuer}/connect/signin`, {
      ...form,
      username: 'alice',
      password: 'alice-password',
    })
    return { browser, form, done, code: answer(done).code ?? '' }
  }

  const isSignedIn = async (browser: Browser, issuer: string): Promise<boolean> =>
    answer(await browser.open(urlAt(issuer, { prompt: 'none' }))).code !== undefined

  /**
   * A browser at the other tenant with an interaction of its own there, and with the cookies of a browser: under their names,
   * or under those of the other tenant.
   */
  async function carried({ jar }: Browser, names: 'same' | 'renamed'): Promise<Browser> {
    const browser = browserAt(otherIssuer)
    await browser.open(urlAt(otherIssuer))
    const suffix = (cookies: ReadonlyMap<string, string>) =>
      /-[\w-]{16}$/u.exec([...cookies.keys()][0] ?? '')?.[0] ?? ''
    const [from, to] = by === 'path' ? [suffix(jar), suffix(browser.jar)] : ['', '']
    for (const [name, value] of jar) {
      browser.jar.set(names === 'renamed' ? name.slice(0, name.length - from.length) + to : name, value)
    }
    return browser
  }

  /** The same URL at the other tenant. */
  const moved = (url: string): string => url.replace(ownIssuer, otherIssuer)

  return {
    ...{ tenants, mails, double, hosts, ownTenant, otherTenant, ownIssuer, otherIssuer },
    ...{ browserAt, urlAt, signInAt, isSignedIn, carried, moved },
  }
}
