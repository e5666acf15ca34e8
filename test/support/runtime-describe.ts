import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeWith } from './describe-with.ts'

const folder = fileURLToPath(new URL('../../runtimes/', import.meta.url))

/** An executable of one of the packages in `runtimes/`. */
export const runtimeExecutable = (path: string): string => `${folder}node_modules/${path}`

/** Like `describeSideBySide`, for tests that need a runtime. */
export const describeWithRuntime = (name: string, executable: string, define: () => void): void =>
  describeWith(existsSync(executable) ? undefined : `${name} is not installed: npm run runtimes`, name, define)
