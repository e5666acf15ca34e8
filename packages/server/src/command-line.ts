import { basename, relative } from 'node:path'

/** As a shell takes it for one word. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** What whoever reads this has typed before the name of the command: `grantry`, or in a clone `npm start --`. What is printed can then be pasted. */
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
