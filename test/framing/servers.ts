import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, test } from 'vitest'
import { describeSideBySide } from '../support/side-by-side.ts'
import { type FramingServer, type ServerProgram, type ServerUnderTest, startFramingServer } from './child-server.ts'
import { bunDiffers, denoDiffers } from './differences.ts'

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

/**
 * Defines the same tests for every server. The servers run side by side, the tests of each one after the other. If its
 * runtime is missing, they are skipped with a warning; with `CI=true` they fail.
 */
export function describeServers(
  title: string,
  define: (server: () => FramingServer, name: string) => void,
  serverProgram: ServerProgram = 'framing-server',
): void {
  for (const under of servers) {
    const defineTests = (): void => {
      const [program = ''] = under.command
      if (!existsSync(program)) {
        const missing = `${under.name} is not installed. Run npm ci --prefix runtimes`
        test(missing, () => {
          if (process.env.CI === 'true') throw new Error(missing)
          console.warn(`${title}: skipped. ${missing}`)
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
    }
    describeSideBySide(`${title}, ${under.name}`, defineTests)
  }
}
