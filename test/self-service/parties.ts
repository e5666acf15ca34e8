import { createPages } from '@grantry/pages'
import { createSelfServicePages } from '@grantry/pages/self-service'
import type { AuthorizationEndpointOptions } from '@grantry/plugins/authorization-endpoint'
import {
  type Account,
  type AccountStore,
  type MailMessage,
  type NewAccount,
  type SelfServiceOptions,
  selfService,
} from '@grantry/plugins/self-service'
import { type SignInOptions, type SignInWays, signIn } from '@grantry/plugins/sign-in'
import type { TestProviderOptions } from '@grantry/testing'
import { hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { request, setUp } from '../authorization/parties.ts'

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Accounts in memory, with their passwords. */
export function memoryAccounts(initial: readonly (NewAccount & { readonly sub: string })[] = []) {
  const users = new Map<string, Account & { password?: string | undefined }>()
  let created = 0
  const find = (is: (account: Account) => boolean) => [...users.values()].find(is)
  const byName = (name: string) => find(({ username }) => fold(username) === fold(name))
  const byEmail = (email: string) =>
    find((account) => account.emailVerified && account.email !== undefined && fold(account.email) === fold(email))
  const insert = ({ sub, claims = {}, ...more }: NewAccount & { readonly sub: string }) => {
    const account = { sub, claims, ...more }
    users.set(sub, account)
    return account
  }
  for (const account of initial) insert(account)
  const calls: string[] = []
  const store: AccountStore = {
    find: (sub) => users.get(sub),
    findByName(name) {
      calls.push('findByName')
      return byName(name)
    },
    findByEmail(email) {
      calls.push('findByEmail')
      return byEmail(email)
    },
    create(account) {
      const isTaken = byName(account.username) ?? (account.emailVerified && byEmail(account.email ?? ''))
      if (isTaken) return 'taken'
      created += 1
      return insert({ sub: `new-${created}`, ...account })
    },
    async change(sub, { someClaims = {}, isStillAllowed, ...changes }) {
      if (isStillAllowed !== undefined && (await isStillAllowed()) !== true) return undefined
      const account = users.get(sub)
      if (account === undefined) return undefined
      const { email, emailVerified } = { ...account, ...changes }
      const owner = emailVerified && email !== undefined ? byEmail(email) : undefined
      if (owner !== undefined && owner.sub !== sub) return 'taken'
      const claims = Object.entries({ ...account.claims, ...someClaims }).filter(([, value]) => value !== null)
      const changed = { ...account, claims: Object.fromEntries(claims), ...changes } as typeof account
      users.set(sub, changed)
      return changed
    },
    remove: (sub) => users.delete(sub),
  }
  const authenticate = ({ username, password }: { readonly username: string; readonly password: string }) => {
    const user = byName(username)
    return user !== undefined && user.password === password ? { sub: user.sub } : undefined
  }
  return { store, users, calls, authenticate }
}

export const aliceAccount = {
  sub: 'alice',
  username: 'alice',
  email: 'alice@example.com',
  emailVerified: true,
  password: 'alice-password',
}

export const pages = { ...createPages({ locales: ['en'] }) }

/** A provider with the account of alice, whose mails are kept. */
export async function setUpAccounts(
  options: Partial<SelfServiceOptions> = {},
  {
    signIn: more,
    provider,
    endpoint = {},
    ways = [],
  }: {
    readonly signIn?: Partial<SignInOptions>
    readonly provider?: Partial<TestProviderOptions>
    readonly endpoint?: Partial<AuthorizationEndpointOptions>
    /** Ways to sign in besides accounts. */
    readonly ways?: readonly SignInWays[]
  } = {},
) {
  const memory = memoryAccounts([aliceAccount])
  const mails: MailMessage[] = []
  const way = selfService({
    store: memory.store,
    mailer: {
      send: (message) => {
        mails.push(message)
      },
    },
    pages: createSelfServicePages({ locales: ['en'], host: 'id.example.com' }),
    ...options,
  })
  const f = await setUp(signIn({ pages, ways: [way, ...ways], ...more }), endpoint, {
    users: { authenticate: memory.authenticate },
    ...provider,
  })
  /** The users who were revoked. */
  const revoked = () => f.events.flatMap((event) => (event.type === 'subject_revoked' ? [event.sub] : []))
  const start = async (parameters: Readonly<Record<string, string>> = {}, browser = f.browser()) => {
    const page = await browser.open(f.urlOf({ ...request, ...parameters }))
    const submit = (of: Page, form: Readonly<Record<string, string>>) =>
      browser.submit(actionOf(of), { ...hiddenFields(of), ...form })
    const follow = (id: string, of: Page = page) => browser.open(linkOf(of, id))
    /** Asks for a mail. */
    const ask = async (id: string, address: string) => submit(await follow(id), { address })
    return { browser, page, submit, follow, ask }
  }
  /** Returns the mails, when those that are on their way have arrived. */
  const arrived = async (): Promise<readonly MailMessage[]> => {
    await f.provider.runTasks()
    return mails
  }
  const lastMail = async (): Promise<MailMessage> => {
    const last = (await arrived()).at(-1)
    if (last === undefined) throw new Error('There is no mail')
    return last
  }
  return { ...f, way, memory, mails, revoked, start, arrived, lastMail }
}

/** The URL of the form of a page. */
export const actionOf = ({ html }: Page): string =>
  unescapeHtml(/<form method="post" action="([^"]+)"/u.exec(html)?.[1] ?? '')

export const linkOf = ({ html }: Page, id: string): string =>
  unescapeHtml(new RegExp(`<a (?:class="way" )?id="${id}" href="([^"]+)"`, 'u').exec(html)?.[1] ?? '')

export const linkIn = ({ text }: Pick<MailMessage, 'text'>): string => /https:\/\/\S+/u.exec(text)?.[0] ?? ''

/** The code of a mail, which has two groups, in one. */
export const codeIn = (mail: { readonly text: string } | undefined): string =>
  /^\d{4} \d{4}$/mu.exec(mail?.text ?? '')?.[0].replace(' ', '') ?? ''

/** A code of the same form that is not the right one. */
export const wrongCode = (right: string): string => (right === '00000000' ? '00000001' : '00000000')

export const titleOf = ({ html }: Page): string => /<h1>([^<]*)<\/h1>/u.exec(html)?.[1] ?? ''

export const problemOf = ({ html }: Page): string => unescapeHtml(/id="problem">([^<]*)</u.exec(html)?.[1] ?? '')
