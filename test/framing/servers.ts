import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, test } from 'vitest'
import { describeSideBySide } from '../support/side-by-side.ts'
import { type FramingServer, type ServerProgram, type ServerUnderTest, startFramingServer } from './child-server.ts'
import { bunDiffers, denoDiffers, denoTlsDiffers } from './differences.ts'

const runtime = (name: string): string =>
  fileURLToPath(new URL(`../../runtimes/node_modules/.bin/${name}`, import.meta.url))

const bun = { adapter: '@grantry/adapters/bun', command: [runtime('bun')] }
const deno = {
  adapter: '@grantry/adapters/deno',
  command: [runtime('deno'), 'run', '--allow-all', '--v8-flags=--expose-gc'],
}
const node = { adapter: '@grantry/adapters/node', command: [process.execPath, '--expose-gc'] }

const servers: readonly ServerUnderTest[] = [
  { name: 'bun', ...bun, differs: bunDiffers },
  { name: 'bun with TLS', ...bun, overTls: true },
  { name: 'deno', ...deno, differs: denoDiffers },
  { name: 'deno with TLS', ...deno, overTls: true, differs: denoTlsDiffers },
  { name: 'node', ...node },
  { name: 'node with TLS', ...node, overTls: true },
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
  // The tests of memory open their connections without TLS.
  for (const under of servers.filter(({ overTls }) => !overTls || serverProgram === 'framing-server')) {
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
