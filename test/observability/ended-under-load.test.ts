// SIGTERM under load: the server finishes requests in progress, and issued tokens survive the restart.
import { expect, test } from 'vitest'
import { api, loginOf, torturedClients, writeSetting } from '../torture/setting.ts'
import { askUntilRefused, post } from './load.ts'
import { isRequest, parseLog } from './log-lines.ts'
import { serverProcesses } from './server-process.ts'

const { newHome, start } = serverProcesses()

const callers = 12
const enough = 60

test.each([
  ['persistent connections', true],
  ['a connection for each request', false],
])(
  '%s: no response is truncated or lost, and every issued token is active after a restart',
  async (_, keepAlive) => {
    const home = newHome()
    const storage = { driver: 'filesystem', directory: './data' }
    const setting = writeSetting(home, 'http://127.0.0.1:8484', storage, callers)
    const first = await start({ home, args: ['--config', setting] })

    let answered = 0
    const endings = await askUntilRefused(callers, keepAlive, async (agent, caller) => {
      const client = torturedClients[caller % 2] ?? torturedClients[0]
      const ending = await post(first.address, '/connect/token', loginOf(caller), client.join(':'), agent)
      answered += 1
      // All other clients are in the middle of a request.
      if (answered === enough) first.process.kill('SIGTERM')
      return ending
    })
    expect(await first.ended).toBe(0)

    expect(endings.filter(({ kind }) => kind === 'torn')).toEqual([])
    const whole = endings.flatMap((ending) => (ending.kind === 'answered' ? [ending] : []))
    expect(new Set(whole.map(({ status }) => status))).toEqual(new Set([200]))
    expect(whole.length).toBeGreaterThanOrEqual(enough)
    // Connections that the system accepted, but the server did not, are reset. All requests that the server started must
    // have a complete response.
    const begun = parseLog(first.output.err).filter(isRequest)
    expect(begun.map(({ status }) => status)).toEqual(whole.map(() => 200))

    const second = await start({ home, args: ['--config', setting] })
    for (const { body } of whole) {
      const { access_token: token } = JSON.parse(body)
      const response = await fetch(`${second.address}/connect/introspect`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(api.join(':'))}` },
        body: new URLSearchParams({ token }),
      })
      expect(await response.json()).toMatchObject({ active: true })
    }
    second.process.kill('SIGTERM')
    expect(await second.ended).toBe(0)
  },
  90_000,
)
