import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { languages } from '@grantry/pages/languages'
import { type AccountPageOptions, accountPage } from '@grantry/plugins/account'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { type AuthorizationEndpointOptions, authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { type SignInOptions, signIn } from '@grantry/plugins/sign-in'
import { createTestProvider, type TestProviderOptions } from '@grantry/testing'
import { answer, createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { challenge, clients, redirectUri, request, verifier, web } from '../authorization/parties.ts'

export const issuer = 'https://id.example.com'
export const accountUri = `${issuer}/account`

export interface AccountSetUp {
  readonly account?: Partial<AccountPageOptions>
  readonly signIn?: Partial<SignInOptions>
  readonly endpoint?: Partial<AuthorizationEndpointOptions>
  readonly provider?: Partial<TestProviderOptions>
}

export type Browser = ReturnType<typeof createBrowser>

/** The links of a page with this beginning of the path, below that of the account. */
export const linksTo = ({ html }: Pick<Page, 'html'>, path: string): readonly string[] =>
  [...new Set([...html.matchAll(/href="([^"]*)"/gu)].map(([, url = '']) => url))].filter((url) =>
    url.startsWith(`${accountUri}/${path}`),
  )

/** A provider with the account page, and the users `alice` and `bob`. */
export async function setUpAccount(more: AccountSetUp = {}) {
  const pages = createPages({ languages })
  const interaction = signIn({ pages, ...more.signIn })
  const features = [
    accountPage({ pages: createAccountPages({ languages }), ...more.account }),
    ...(more.endpoint?.features ?? []),
  ]
  const f = await createTestProvider({
    plugins: [
      authorizationCode(),
      proofKey(),
      refreshToken(),
      authorizationEndpoint({ interaction, pages, ...more.endpoint, features }),
    ],
    clients,
    users: {
      authenticate: ({ username, password }) =>
        password === `${username}-password` ? { sub: `sub of ${username}` } : undefined,
      claims: () => ({}),
    },
    // A busy machine is no outage: a request that has ended would change the account later.
    storageTimeLimit: 60,
    hostTimeLimit: 60,
    ...more.provider,
  })
  const browser = (): Browser => createBrowser(f.provider)
  const enter = (of: Browser, page: Page, username = 'alice', password = `${username}-password`) =>
    of.submit(`${issuer}/connect/signin`, { ...hiddenFields(page), username, password })
  /** A browser in which a user has just signed in on the page of the account. */
  async function signedIn(username = 'alice', path = '') {
    const newBrowser = browser()
    const page = await enter(newBrowser, await newBrowser.open(`${accountUri}${path}`), username)
    return { browser: newBrowser, page }
  }
  /** Sends the form of a page to its address. */
  const send = (of: Browser, page: Page, fields: Readonly<Record<string, string>> = {}) =>
    of.submit(page.url.href, { ...hiddenFields(page), ...fields })
  /** Lets the user of a browser authorize the client `web`, and returns the token response. */
  async function authorize(of: Browser, scope = 'openid api1 offline_access') {
    const query = new URLSearchParams({ ...request, scope, code_challenge: challenge, code_challenge_method: 'S256' })
    const asked = await of.open(`${issuer}/connect/authorize?${query}`)
    const done = asked.url.href.startsWith(redirectUri)
      ? asked
      : await of.submit(`${issuer}/connect/consent`, { ...hiddenFields(asked), decision: 'allow' })
    const { code = '' } = answer(done)
    const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    return f.post('token', grant, web)
  }
  return { ...f, browser, enter, signedIn, send, authorize }
}
