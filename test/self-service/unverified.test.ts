// Users with an address that they have not proved: an administrator, an import or an older program has entered it.
import { describe, expect, test } from 'vitest'
import { linkIn, setUpAccounts, titleOf } from './parties.ts'

const address = 'bob@example.com'
const bob = { username: 'bob', email: address, emailVerified: false, password: 'bob-password-bob' }
const password = 'correct horse battery'

async function open(options: Parameters<typeof setUpAccounts>[0] = {}, user: object = bob) {
  const f = await setUpAccounts({ signUp: 'open', mail: 'both', ...options })
  const created = await f.memory.store.create({ ...bob, ...user })
  if (created === 'taken') throw new Error('taken')
  return { ...f, sub: created.sub }
}

describe('an address that its user has not proved', () => {
  test.each(['forgot', 'by-mail'])('gets no mail, and the same page, by %s', async (id) => {
    const f = await open()
    const page = await (await f.start()).ask(id, address)
    expect([page.status, titleOf(page)]).toEqual([200, 'Check your email'])
    expect(await f.arrived()).toEqual([])
  })

  test('does not keep the user from a sign-in by password', async () => {
    const f = await open()
    const { page, submit } = await f.start()
    expect((await submit(page, { username: 'bob', password: bob.password })).html).toContain('Signed in as bob')
  })

  test('belongs to the person who proves it, with an account that has nothing of the other one', async () => {
    const f = await open()
    const { ask, browser, submit } = await f.start()
    await ask('create', address)
    const done = await submit(await browser.open(linkIn(await f.lastMail())), { password })
    expect(done.html).toContain(`Signed in as ${address}`)
    expect(f.memory.users.get(f.sub)).toMatchObject({ username: 'bob', emailVerified: false, password: bob.password })
  })

  test('is no way to an account whose name it is: the mail says that there is one', async () => {
    const f = await open({}, { username: address })
    await (await f.start()).ask('create', address)
    const mail = await f.lastMail()
    expect(mail.subject).toBe('You already have an account')
    expect(linkIn(mail)).toBe('')
  })

  test('that is no longer verified ends the mails on their way', async () => {
    const f = await open({}, { emailVerified: true })
    const { ask, browser, submit } = await f.start()
    await ask('forgot', address)
    const page = await browser.open(linkIn(await f.lastMail()))
    await f.memory.store.change(f.sub, { emailVerified: false })
    expect((await submit(page, { password })).status).toBe(400)
    expect(f.memory.users.get(f.sub)).toMatchObject({ password: bob.password })
  })
})
