import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Page } from 'playwright-core'
import { allowAsAlice } from '../support/ready-pages.ts'
import { examplesPath, searchPath } from './example-folders.ts'

/** Runs the client of the example, and opens the URLs that it prints. Returns what it prints otherwise, and what the pages ask. */
export async function runMcpClient(commands: string, environment: Readonly<Record<string, string>>, page: Page) {
  const child = spawn('sh', ['-ec', `exec ${commands}`], {
    cwd: examplesPath,
    env: { ...process.env, ...environment, PATH: searchPath },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const printed: string[] = []
  const asked: string[] = []
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('Open ')) {
        asked.push((await allowAsAlice(page, line.slice('Open '.length))).asked)
        await page.waitForURL(/[?&]code=/u)
      } else printed.push(line)
    }
    const [code] = await ended
    if (code !== 0) throw new Error(`The client ended with ${code}`)
  } finally {
    child.kill()
  }
  return { printed, asked }
}
