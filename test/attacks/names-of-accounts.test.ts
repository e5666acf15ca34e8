/**
 * Attack: a visitor proves one address, and then tries thousands of names, to learn which of them are taken, or thousands of
 * passwords, each of which asks the service for breached passwords.
 */
import { expect, test } from 'vitest'
import { linkIn, problemOf, setUpAccounts } from '../self-service/parties.ts'

const password = 'correct horse battery'

test('with one mail, 20 names and passwords can be tried', async () => {
  let asked = 0
  const isCommon = () => {
    asked += 1
    return true
  }
  const f = await setUpAccounts({ signUp: 'open', names: 'username', passwords: { isCommon } })
  const { ask, browser, submit } = await f.start()
  await ask('create', 'eve@example.com')
  const page = await browser.open(linkIn(await f.lastMail()))
  const problems: string[] = []
  for (let index = 0; index < 30; index += 1) {
    const username = index % 2 === 0 ? 'alice' : `free-${index}`
    problems.push(problemOf(await submit(page, { username, password })))
  }
  expect(problems.filter((text) => text.startsWith('This user name is taken'))).toHaveLength(10)
  expect(problems.slice(20).every((text) => text.startsWith('There were too many attempts'))).toBe(true)
  expect(asked).toBe(10)
})
