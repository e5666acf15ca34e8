import { basename, relative } from 'node:path'

/** Quotes a text so that a POSIX shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/**
 * Returns what the user typed before the name of the command, such as `grantry`, or `npm start --` in a clone, so that
 * printed commands can be pasted.
 */
export function commandLine(): string {
  const [runtime = 'node', program = ''] = process.argv
  const { npm_lifecycle_event: script = '', npm_command: npm } = process.env
  if (basename(program) === 'start.js' && script === 'start') return 'npm start --'
  if (basename(program) === 'start.js' && script.startsWith('start:')) return `npm run ${script} --`
  if (!/\.m?js$/u.test(program)) return npm === 'exec' ? 'npx grantry' : 'grantry'
  const here = relative(process.cwd(), program)
  const run = basename(runtime).startsWith('deno') ? 'deno run -A' : basename(runtime)
  return `${run} ${shellWord(here.startsWith('..') ? program : here)}`
}
