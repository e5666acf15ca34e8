import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type FramingServer, type ServerProgram, startFramingServer } from './child-server.ts'
import { bunDiffers, denoDiffers } from './differences.ts'

/** A runtime and the ready adapter for it. */
export interface ServerUnderTest {
  readonly name: string
  /** The entry of `@grantry/adapters` with its `serve`. */
  readonly adapter: string
  /** What runs the bundle; its first part is a program. */
  readonly command: readonly string[]
  /** Names of cases that the runtime itself decides in its own way, before any code of ours: judged for what they do harm, not for what is said. Absent where the connection is ours. */
  readonly differs?: readonly string[]
}

const runtime = (name: string): string =>
  fileURLToPath(new URL(`../../runtimes/node_modules/.bin/${name}`, import.meta.url))

const servers: readonly ServerUnderTest[] = [
  { name: 'bun', adapter: '@grantry/adapters/bun', command: [runtime('bun')], differs: bunDiffers },
  {
    name: 'deno',
    adapter: '@grantry/adapters/deno',
    command: [runtime('deno'), 'run', '--allow-all', '--v8-flags=--expose-gc'],
    differs: denoDiffers,
  },
  { name: 'node', adapter: '@grantry/adapters/node', command: [process.execPath, '--expose-gc'] },
]

/** Defines the same tests for every server; they get it started. Where its runtime is missing, that is said, and a build fails. */
export function describeServers(
  title: string,
  define: (server: () => FramingServer, name: string) => void,
  serverProgram: ServerProgram = 'framing-server',
): void {
  for (const under of servers) {
    describe(`${title}, ${under.name}`, () => {
      const [program = ''] = under.command
      if (!existsSync(program)) {
        const missing = `${under.name} is not installed, and these tests need it: npm ci --prefix runtimes`
        test(missing, () => {
          if (process.env.CI === 'true') throw new Error(missing)
          console.warn(`${title}: left out. ${missing}`)
        })
        return
      }
      let server: FramingServer | undefined
      beforeAll(async () => {
        server = await startFramingServer(under, serverProgram)
      })
      afterAll(() => server?.stop())
      define(() => {
        if (server === undefined) throw new TypeError('the server has not started')
        return server
      }, under.name)
    })
  }
}
