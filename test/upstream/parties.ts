import { decodeJwt, defineEndpoint, type Json } from '@grantry/core'
import type { AuthorizationEndpointOptions } from '@grantry/plugins/authorization-endpoint'
import type { SignInOptions, SignInWays } from '@grantry/plugins/sign-in'
import {
  type Link,
  type UpstreamOptions,
  type UpstreamProvider,
  type UpstreamWays,
  upstream,
} from '@grantry/plugins/upstream'
import type { TestProviderOptions } from '@grantry/testing'
import * as v from 'valibot'
import type { Account, AccountStore, NewAccount } from '../../plugins/shared/account-store.ts'
import { answer, type createBrowser, type Page } from '../authorization/browser.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { createOpenIdDouble, type DoubleOptions, type OpenIdDouble, realNow } from './openid-double.ts'

type Browser = ReturnType<typeof createBrowser>

/** A provider `acme` at the double. */
export const acmeOf = (
  { issuer, clientId }: Pick<OpenIdDouble, 'issuer' | 'clientId'>,
  more: Partial<UpstreamProvider> = {},
): UpstreamProvider => ({ name: 'acme', displayName: 'Acme', issuer, clientId, clientSecret: 'acme-secret', ...more })

/** Endpoints such as a page for accounts has. */
const accountWay = (ways: UpstreamWays): SignInWays => ({
  links: () => [],
  parts: (tools) => [
    defineEndpoint({
      name: 'testAccount',
      path: '/connect/test-account',
      methods: ['GET'],
      caller: 'anyone',
      params: v.object({ action: v.string(), id: v.optional(v.string(), ''), to: v.optional(v.string()) }),
      async handle({ params: { action, id, to }, request }, kit) {
        const session = await tools.sessions.find(kit, request)
        if (session === undefined) return { json: { refused: 'no session' } }
        const linked = ways.linked(kit)
        const { sub } = session.subject
        if (action === 'forget') await linked.forget(sub)
        if (action === 'unlink') return { json: await linked.unlink(sub, id) }
        if (action === 'list') return { json: (await linked.list(sub)) as unknown as Json }
        const returnTo = to ?? `${kit.issuer}/connect/test-account?action=list`
        return (await linked.begin('acme', session, request, returnTo)) ?? { json: { refused: 'outdated' } }
      },
    }),
  ],
})

export interface UpstreamSetting {
  readonly double?: DoubleOptions
  readonly provider?: Partial<UpstreamProvider>
  readonly options?: Partial<UpstreamOptions>
  readonly signIn?: Partial<SignInOptions>
  readonly more?: Partial<TestProviderOptions>
  readonly endpoint?: (way: UpstreamWays) => Partial<AuthorizationEndpointOptions>
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
  double: settings,
  provider,
  options,
  signIn = {},
  more = {},
  endpoint,
  label = 'Acme',
}: UpstreamSetting = {}) {
  const double = await createOpenIdDouble(settings)
  let skipped = 0
  const way = upstream({ providers: [acmeOf(double, provider)], fetch: double.fetch, ...options })
  const ways = [way, accountWay(way)]
  const f = await setUpSignIn(
    { ways, ...signIn },
    // The library checks tokens by the clock of the machine.
    { ...more, runtime: { now: () => realNow() + skipped } },
    endpoint?.(way),
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
    // A user who has consented before is not asked again.
    const isAsked = nameOf(consent) === 'consent'
    const form = { ...hidden, decision: 'allow' }
    const done = isAsked ? await away.browser.submit(`${f.provider.issuer}/connect/consent`, form) : consent
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

type UpstreamParties = Awaited<ReturnType<typeof setUpUpstream>>

export const accountUrl = 'https://id.example.com/connect/test-account'

/** A user who has signed in with a password, at the page of the account. */
export async function accountAs(f: UpstreamParties, user: string) {
  const { browser, enter } = await f.start()
  await enter(user)
  const leave = (to?: string) =>
    browser.open(`${accountUrl}?${new URLSearchParams({ action: 'link', ...(to !== undefined && { to }) })}`)
  /** Where the browser is after the response of the provider. The page itself is a list. */
  async function comeBack(request: URL, of: Browser = browser): Promise<string> {
    const seen: string[] = []
    const { fetch } = f.provider
    const response = await fetch(
      new Request(f.double.authorize(request), {
        headers: { cookie: [...of.jar].map((pair) => pair.join('=')).join('; ') },
      }),
      { clientAddress: '192.0.2.1' },
    )
    seen.push(response.headers.get('location') ?? '')
    return new URL(seen[0] || 'https://id.example.com/none').searchParams.get('link') ?? ''
  }
  return {
    browser,
    leave,
    comeBack,
    link: async () => comeBack((await leave()).url),
    list: async () => JSON.parse((await browser.open(`${accountUrl}?action=list`)).html) as readonly Link[],
    unlink: async (id: string) =>
      JSON.parse((await browser.open(`${accountUrl}?action=unlink&id=${id}`)).html) as boolean,
  }
}

/** Accounts in memory. */
export function createAccounts() {
  const all = new Map<string, Account>()
  const lower = (text: string | undefined) => text?.toLowerCase()
  const byMail = (email: string) =>
    [...all.values()].find((account) => account.emailVerified && lower(account.email) === lower(email))
  const add = ({ password: _, claims = {}, ...account }: NewAccount): Account => {
    const created = { sub: `account-${all.size + 1}-${account.username.slice(0, 8)}`, ...account, claims }
    all.set(created.sub, created)
    return created
  }
  const accounts: AccountStore = {
    find: async (sub) => all.get(sub),
    findByName: async (name) => [...all.values()].find(({ username }) => lower(username) === lower(name)),
    findByEmail: async (email) => byMail(email),
    async create(account) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      const hasName = [...all.values()].some(({ username }) => lower(username) === lower(account.username))
      const hasMail = account.emailVerified && account.email !== undefined && byMail(account.email) !== undefined
      return hasName || hasMail ? 'taken' : add(account)
    },
    async change(sub, { email, emailVerified = false }) {
      const account = all.get(sub)
      if (account === undefined) return undefined
      const owner = email !== undefined && emailVerified ? byMail(email) : undefined
      if (owner !== undefined && owner.sub !== sub) return 'taken'
      const changed = { ...account, ...(email !== undefined && { email }), emailVerified }
      all.set(sub, changed)
      return changed
    },
    remove: async (sub) => all.delete(sub),
  }
  return { accounts, all, add }
}
