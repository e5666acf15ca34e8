// SIGTERM in the middle of a load: what the server began it ends, and what it answered is there at the next start.
import { expect, test } from 'vitest'
import { api, loginOf, torturedClients, writeSetting } from '../torture/setting.ts'
import { askUntilRefused, post } from './load.ts'
import { isRequest, parseLog } from './log-lines.ts'
import { serverProcesses } from './server-process.ts'

const { newHome, start } = serverProcesses()

const callers = 12
const enough = 60

test.each([
  ['connections that are kept', true],
  ['a connection for each request', false],
])(
  '%s: no answer is torn, none is lost on the way, and every token that was answered is active after a second start',
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
      // Everybody else is in the middle of a request.
      if (answered === enough) first.process.kill('SIGTERM')
      return ending
    })
    expect(await first.ended).toBe(0)

    expect(endings.filter(({ kind }) => kind === 'torn')).toEqual([])
    const whole = endings.flatMap((ending) => (ending.kind === 'answered' ? [ending] : []))
    expect(new Set(whole.map(({ status }) => status))).toEqual(new Set([200]))
    expect(whole.length).toBeGreaterThanOrEqual(enough)
    // A connection that the system had taken and the server had not yet is reset: whatever the server has begun, its caller has heard the end of.
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
