import { describe, expect, test } from 'vitest'
import { invitations } from '../../plugins/self-service/invitations.ts'
import { answer } from '../authorization/browser.ts'
import { linkIn, linkOf, problemOf, setUpAccounts, titleOf } from './parties.ts'

const password = 'correct horse battery'
const address = 'carol@example.com'
const week = 604_800

async function setUpInvitations(...[options = {}, more]: Parameters<typeof setUpAccounts>) {
  const f = await setUpAccounts({ signUp: 'invitation', ...options }, more)
  const functions = f.provider.use(invitations)
  const invite = async (email = address, options: object = {}) => {
    const invited = await functions.invite({ email, ...options })
    if (typeof invited === 'string') throw new Error(invited)
    return { ...invited, link: linkIn(await f.lastMail()) }
  }
  const submit = (page: Parameters<Awaited<ReturnType<typeof f.start>>['submit']>[0], form: Record<string, string>) =>
    f.start().then(({ submit: send }) => send(page, form))
  return { ...f, functions, invite, submit }
}

describe('an invitation', () => {
  test('creates an account with the address and the claims of the administrator', async () => {
    const f = await setUpInvitations()
    const { link } = await f.invite(address, { claims: { name: 'Carol', department: 'sales' } })
    const page = await f.browser().open(link)
    expect(titleOf(page)).toBe('Create an account')
    expect(page.html).toContain(address)
    const done = await f.submit(page, { password })
    expect(titleOf(done)).toBe('Your account is ready')
    expect(f.memory.users.get('new-1')).toMatchObject({
      username: address,
      email: address,
      emailVerified: true,
      claims: { name: 'Carol', department: 'sales' },
    })
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'account_created', by: 'invitation' }))
    const { page: signIn, submit } = await f.start()
    expect((await submit(signIn, { username: address, password })).html).toContain(`Signed in as ${address}`)
    expect(await f.functions.list()).toEqual([])
  })

  test('lets its user choose a name, and survives one that is taken meanwhile', async () => {
    const f = await setUpInvitations({ names: 'username' })
    const { link } = await f.invite()
    const page = await f.browser().open(link)
    const taken = await f.submit(page, { username: 'alice', password })
    expect(problemOf(taken)).toContain('taken')
    expect(titleOf(await f.submit(taken, { username: 'carol', password }))).toBe('Your account is ready')
    expect(f.memory.users.get('new-1')).toMatchObject({ username: 'carol', email: address })
  })

  test('has the rules for new passwords', async () => {
    const f = await setUpInvitations()
    const page = await f.browser().open((await f.invite()).link)
    expect(problemOf(await f.submit(page, { password: 'short' }))).toContain('at least 12')
    expect(problemOf(await f.submit(page, { password: `${address}1` }))).toContain('not your name')
  })

  test('is refused for an address with an account, one that is malformed, and claims that an account cannot have', async () => {
    const { functions, arrived } = await setUpInvitations()
    expect(await functions.invite({ email: 'ALICE@example.com' })).toBe('account_exists')
    expect(await functions.invite({ email: 'carol' })).toBe('address_malformed')
    for (const claims of [{ email: 'eve@example.com' }, { email_verified: false }, { sub: 'alice' }]) {
      expect(await functions.invite({ email: address, claims })).toBe('claims_malformed')
    }
    expect(await functions.invite({ email: address, claims: { a: 'a'.repeat(5000) } })).toBe('claims_malformed')
    expect(await arrived()).toHaveLength(0)
    expect(await functions.list()).toEqual([])
  })

  test('leaves none behind when its mail is not accepted', async () => {
    const send = () => {
      throw new Error('The mail server has not accepted a mail (EENVELOPE 550)')
    }
    const f = await setUpInvitations({ mailer: { send } })
    expect(await f.functions.invite({ email: address })).toBe('mail_failed')
    expect(await f.functions.list()).toEqual([])
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'mail_failed', purpose: 'invitation', reason: 'EENVELOPE 550' }),
    )
  })

  test('is in the language that the administrator chooses', async () => {
    const f = await setUpInvitations()
    await f.invite(address, { locale: 'de' })
    // The pages of this provider have English only.
    expect((await f.lastMail()).subject).toBe('Your invitation to id.example.com')
    expect((await f.lastMail()).text).toMatch(/Valid until \w+ \d+, \d{4}\./u)
  })

  test('tells a user who has an account meanwhile to sign in', async () => {
    const f = await setUpInvitations()
    const { link } = await f.invite()
    f.memory.store.create({ username: 'carol', email: address, emailVerified: true })
    const page = await f.browser().open(link)
    expect(titleOf(page)).toBe('You already have an account')
    expect(page.status).toBe(400)
  })

  test('19.20 can be accepted for seven days, and its page has a way on then', async () => {
    const f = await setUpInvitations()
    const { link, expiresAt, invitedAt } = await f.invite()
    expect(expiresAt - invitedAt).toBe(week)
    f.clock.advance(week - 1)
    expect((await f.browser().open(link)).status).toBe(200)
    f.clock.advance(1)
    const page = await f.browser().open(link)
    expect(titleOf(page)).toBe('This invitation no longer works')
    expect(page.html).toContain('ask for another invitation')
    expect(await f.functions.list()).toEqual([])
  })

  test('replaces an earlier one to the same address', async () => {
    const f = await setUpInvitations()
    const first = await f.invite()
    const second = await f.invite('Carol@Example.com')
    expect((await f.functions.list()).map(({ id }) => id)).toEqual([second.id])
    expect((await f.browser().open(first.link)).status).toBe(400)
    expect((await f.browser().open(second.link)).status).toBe(200)
  })
})

describe('19.9 without an invitation', () => {
  test('there is no link to sign-up, and prompt=create leads to the sign-in', async () => {
    const f = await setUpInvitations()
    const { page } = await f.start()
    expect(linkOf(page, 'create')).toBe('')
    const { page: created } = await f.start({ prompt: 'create' })
    expect(titleOf(created)).toBe('Sign in')
    expect(answer(created).error).toBeUndefined()
    const endpoint = await f.browser().open(`${f.provider.issuer}/connect/mail?interaction=x&for=sign_up`)
    expect(endpoint.status).toBe(400)
  })
})
