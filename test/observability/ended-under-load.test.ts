// SIGTERM under load: the server finishes requests in progress, and issued tokens survive the restart.
import { expect, test } from 'vitest'
import { api, loginOf, settingClients, writeSetting } from '../support/server-setting.ts'
import { post, sendUntilRefused } from './load.ts'
import { isRequest, parseLog } from './log-lines.ts'
import { serverProcesses } from './server-process.ts'

const { newHome, start } = serverProcesses()

const callers = 12
const enough = 60

test.each([
  ['persistent connections', true],
  ['a connection for each request', false],
])('%s: no response is truncated or lost, and every issued token is active after a restart', async (_, keepAlive) => {
  const home = newHome()
  // Without fsync: only a power failure could lose a token.
  const storage = { driver: 'filesystem', directory: './data', fsync: false }
  const setting = writeSetting(home, 'http://127.0.0.1:8484', storage, callers)
  const first = await start({ home, args: ['--config', setting] })

  let answered = 0
  const endings = await sendUntilRefused(callers, keepAlive, async (agent, caller) => {
    const client = settingClients[caller % 2] ?? settingClients[0]
    const ending = await post(first.address, '/connect/token', loginOf(caller), client.join(':'), agent)
    answered += 1
    // All other clients are in the middle of a request.
    if (answered === enough) first.process.kill('SIGTERM')
    return ending
  })
  expect(await first.ended).toBe(0)

  expect(endings.filter(({ kind }) => kind === 'torn')).toEqual([])
  const complete = endings.flatMap((ending) => (ending.kind === 'answered' ? [ending] : []))
  expect(new Set(complete.map(({ status }) => status))).toEqual(new Set([200]))
  expect(complete.length).toBeGreaterThanOrEqual(enough)
  // Connections that the system accepted, but the server did not, are reset. All requests that the server started must
  // have a complete response.
  const begun = parseLog(first.output.err).filter(isRequest)
  expect(begun.map(({ status }) => status)).toEqual(complete.map(() => 200))

  const second = await start({ home, args: ['--config', setting] })
  const introspected = complete.map(async ({ body }) => {
    const { access_token: token } = JSON.parse(body)
    const response = await fetch(`${second.address}/connect/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(api.join(':'))}` },
      body: new URLSearchParams({ token }),
    })
    expect(await response.json()).toMatchObject({ active: true })
  })
  await Promise.all(introspected)
  second.process.kill('SIGTERM')
  expect(await second.ended).toBe(0)
})
