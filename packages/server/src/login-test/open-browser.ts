import { spawn } from 'node:child_process'

/** The program that opens a URL in the browser of the user, by platform. */
const openers: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens a URL in the browser of the user, if there is one. The command prints the URL in any case. */
export function openBrowser(url: string): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open']
  const opened = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  // Without a desktop there is no such program.
  opened.on('error', () => {})
  opened.unref()
}
