/**
 * Attack: a stranger asks for many new accounts while the mail server is slow, so that the mails of users are not sent.
 */
import type { MailMessage } from '@grantry/plugins/self-service'
import { expect, test } from 'vitest'
import { createBrowser } from '../authorization/browser.ts'
import { aliceAccount, setUpAccounts } from '../self-service/parties.ts'
import { eventually } from '../support/eventually.ts'

const known = 'alice@example.com'

/** Accounts whose mail server accepts mails to strangers only after `release()`. */
async function setUpSlowServer() {
  const mails: MailMessage[] = []
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const mailer = {
    async send(message: MailMessage) {
      if (message.to !== known) await released
      mails.push(message)
    },
  }
  const f = await setUpAccounts({ mailer, signUp: 'open', limits: { perNetwork: 1000 } })
  const ask = async (from: string, address: string, link = 'create') =>
    (await (await f.start({}, createBrowser(f.provider, from))).ask(link, address)).status
  return { ...f, mails, release, ask }
}

test('mails of sign-ups that a slow server keeps leave places for those of accounts, and are all sent later', async () => {
  const { mails, release, ask, provider } = await setUpSlowServer()
  for (let index = 0; index < 150; index += 1) {
    expect(await ask('198.51.100.1', `new${index}@example.com`)).toBe(200)
  }
  expect(await ask('203.0.113.1', known, 'forgot')).toBe(200)
  await eventually(() => expect(mails.map(({ to }) => to)).toEqual([known]))
  release()
  await provider.runTasks()
  expect(new Set(mails.map(({ to }) => to)).size).toBe(151)
  expect(mails).toHaveLength(151)
})

test('mails that a Worker has lost with their requests give their places back after a minute', async () => {
  const mails: string[] = []
  const kept: Promise<void>[] = []
  const mailer = {
    waitUntil: (sending: Promise<void>) => void kept.push(sending),
    send: ({ to }: MailMessage) => (to === known ? void mails.push(to) : new Promise<void>(() => {})),
  }
  const f = await setUpAccounts(
    { mailer, limits: { perNetwork: 1000 } },
    { provider: { hostTimeLimit: 60, maxHostCalls: 1000 } },
  )
  const ask = async (address: string) => (await f.start({}, createBrowser(f.provider))).ask('forgot', address)
  for (let index = 0; index < 60; index += 1) {
    const email = `user${index}@example.com`
    f.memory.users.set(email, { ...aliceAccount, claims: {}, sub: email, username: email, email })
    await ask(email)
  }
  f.clock.advance(60)
  await ask(known)
  await kept.at(-1)
  expect(mails).toEqual([known])
})
