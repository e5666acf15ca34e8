import { readdir, readFile } from 'node:fs/promises'

/** The files of the page as JSON, defined by the build (`scripts/console-page.js`) for the single-file server. */
declare const GRANTRY_CONSOLE_PAGE: string | undefined

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** A file that the browser loads. */
export interface PageFile {
  readonly text: string
  readonly mediaType: string
}

async function readSources(): Promise<Readonly<Record<string, string>>> {
  const directory = new URL('./page/', import.meta.url)
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new TypeError('console: this build does not include the console page; set console to false', { cause })
  })
  const entries = names.map(async (name) => [name, await readFile(new URL(name, directory), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(entries))
}

const inBundle = (json: string): Readonly<Record<string, string>> => JSON.parse(json)

/** Returns the files of the page by name: from the build, or from the source tree. */
export async function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const texts = typeof GRANTRY_CONSOLE_PAGE === 'undefined' ? await readSources() : inBundle(GRANTRY_CONSOLE_PAGE)
  return new Map(
    Object.entries(texts).flatMap(([name, text]): [string, PageFile][] => {
      const mediaType = mediaTypes[name.slice(name.lastIndexOf('.') + 1)]
      return mediaType === undefined ? [] : [[name, { text, mediaType }]]
    }),
  )
}
