/**
 * Attack: a stranger asks for many new accounts while the mail server is slow, so that the mails of users are not sent.
 */
import type { MailMessage } from '@grantry/plugins/self-service'
import { expect, test } from 'vitest'
import { createBrowser } from '../authorization/browser.ts'
import { setUpAccounts } from '../self-service/parties.ts'
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
