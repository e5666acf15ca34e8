import { decodeJwt } from '@grantry/core'
import type { SignInOptions } from '@grantry/plugins/sign-in'
import { type UpstreamOptions, type UpstreamProvider, upstream } from '@grantry/plugins/upstream'
import type { TestProviderOptions } from '@grantry/testing'
import { answer, type createBrowser, type Page } from '../authorization/browser.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { createOpenIdDouble, type DoubleOptions, type OpenIdDouble, realNow } from './openid-double.ts'

type Browser = ReturnType<typeof createBrowser>

/** A provider `acme` at the double. */
export const acmeOf = (
  { issuer, clientId }: Pick<OpenIdDouble, 'issuer' | 'clientId'>,
  more: Partial<UpstreamProvider> = {},
): UpstreamProvider => ({ name: 'acme', displayName: 'Acme', issuer, clientId, clientSecret: 'acme-secret', ...more })

export interface UpstreamSetting {
  readonly double?: DoubleOptions
  readonly provider?: Partial<UpstreamProvider>
  readonly options?: Partial<UpstreamOptions>
  readonly signIn?: Partial<SignInOptions>
  readonly more?: Partial<TestProviderOptions>
  /** The name of the provider on the page. */
  readonly label?: string
}

/** The link to a provider on the page of the sign-in. */
export const linkTo = (name: string, { html }: Page): string => {
  const [, url = ''] = new RegExp(`"name":"${name}","url":"([^"]+)"`, 'u').exec(html) ?? []
  return url
}

/** A provider whose users can sign in at a double of an OpenID provider, besides the password. */
export async function setUpUpstream({
  double: given,
  provider,
  options,
  signIn = {},
  more = {},
  label = 'Acme',
}: UpstreamSetting = {}) {
  const double = await createOpenIdDouble(given)
  let skipped = 0
  const ways = [upstream({ providers: [acmeOf(double, provider)], fetch: double.fetch, ...options })]
  const f = await setUpSignIn(
    { ways, ...signIn },
    // The library checks tokens by the clock of the machine.
    { ...more, runtime: { now: () => realNow() + skipped } },
  )

  /** Begins a sign-in, and follows the link to the provider. Returns where it leads. */
  async function leave(parameters: Readonly<Record<string, string>> = {}, browser: Browser = f.browser()) {
    const { page } = await f.start(parameters, browser)
    const upstreamPage = nameOf(page) === 'signIn' ? await browser.open(linkTo(label, page)) : page
    return { browser, page, request: upstreamPage.url, upstreamPage }
  }

  /** Signs the user of the provider in. Returns the page that follows. */
  async function comeBack(
    { browser, request }: { readonly browser: Browser; readonly request: URL },
    response: Readonly<Record<string, string | undefined>> = {},
  ) {
    return browser.open(double.authorize(request, response))
  }

  /** Signs in, consents, and redeems the code of the client. Returns the claims of its identity token. */
  async function claimsAfter(parameters: Readonly<Record<string, string>> = {}) {
    const away = await leave(parameters)
    const consent = await comeBack(away)
    const fields = /name="([^"]+)" value="([^"]*)"/gu
    const hidden = Object.fromEntries(
      [...consent.html.matchAll(fields)].map(([, name = '', value = '']) => [name, value]),
    )
    const done = await away.browser.submit(`${f.provider.issuer}/connect/consent`, { ...hidden, decision: 'allow' })
    const { body } = await f.redeem(answer(done).code)
    return { claims: decodeJwt(body.id_token)?.claims, consent, body, browser: away.browser }
  }

  return {
    ...f,
    double,
    leave,
    comeBack,
    claimsAfter,
    skip(seconds: number) {
      skipped += seconds
    },
    failures: () => f.events.flatMap((event) => (event.type === 'upstream_sign_in_failed' ? [event.reason] : [])),
  }
}
