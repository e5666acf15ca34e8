import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { hashFunctionFiles } from './hash-functions.js'

/** Returns the package folder of a bundled file; `undefined` for a file of this repository. */
const packageOf = (path: string): string | undefined => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(path)?.[0]

// jiti is a bundle itself and does not list its contents.
const carriedBy: Readonly<Record<string, string>> = {
  jiti: 'It carries Babel (MIT, Copyright (c) 2014-present Sebastian McKenzie and other contributors), acorn, destr, estree-walker, get-tsconfig, mlly, pathe, pkg-types and std-env, each under the MIT licence.',
}

/** Returns the licence of a package: a file, or a section at the end of its README. */
function licenceIn(folder: string): string | undefined {
  const textOf = (form: RegExp): string | undefined => {
    const file = readdirSync(folder).find((entry) => form.test(entry))
    return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8')
  }
  const section = () =>
    /^#+ licen[cs]e\n(.*Permission is hereby granted.*)/imsu.exec(textOf(/^readme\.md$/iu) ?? '')?.[1]
  return (textOf(/^licen[cs]e/iu) ?? section())?.trim()
}

function notice(folder: string): { readonly title: string; readonly text: string } {
  const { name, version, license }: Readonly<Record<'name' | 'version' | 'license', string>> = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const licence = licenceIn(folder)
  if (licence === undefined) throw new Error(`${name} has no licence text, so it cannot be bundled`)
  const texts = [licence]
  // Apache License 2.0, section 4 (d).
  if (existsSync(join(folder, 'NOTICE'))) texts.push(readFileSync(join(folder, 'NOTICE'), 'utf8').trim())
  texts.push(carriedBy[name] ?? '')
  return { title: `${name} ${version} (${license})`, text: texts.filter((text) => text !== '').join('\n\n') }
}

/** Returns the licences of all bundled packages as one comment; identical texts appear once. */
function licencesOf(paths: readonly string[]): string {
  const folders = [...new Set(paths.map(packageOf))].filter((folder) => folder !== undefined)
  const byText = new Map<string, string[]>()
  for (const { title, text } of folders.map(notice)) byText.set(text, [...(byText.get(text) ?? []), title].sort())
  const parts = [...byText].map(([text, titles]) => `${titles.join('\n')}\n\n${text}`).sort()
  const all = [
    readFileSync('LICENSE', 'utf8').trim(),
    'This file contains these packages, under these licences:',
    ...parts,
  ]
  return `/*!\n${all.join(`\n\n${'-'.repeat(80)}\n\n`).replaceAll('*/', '* /')}\n*/\n`
}

/**
 * An esbuild plugin that appends the licences of all bundled packages. MIT and Apache require them in every copy, and a
 * single file is copied alone.
 */
export const withLicences: Plugin = {
  name: 'licences',
  setup(build) {
    build.initialOptions.metafile = true
    build.onEnd(({ metafile, outputFiles = [] }) => {
      if (metafile === undefined) return
      const end = new TextEncoder().encode(licencesOf([...Object.keys(metafile.inputs), ...hashFunctionFiles]))
      for (const output of outputFiles) {
        const contents = new Uint8Array(output.contents.length + end.length)
        contents.set(output.contents)
        contents.set(end, output.contents.length)
        Object.defineProperty(output, 'contents', { value: contents })
        Object.defineProperty(output, 'text', { get: () => new TextDecoder().decode(contents) })
      }
    })
  },
}
