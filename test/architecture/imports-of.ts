import { posix } from 'node:path'
import type { Source } from './source-files.ts'

/** A string, a template, a comment or a regular expression. */
export const token =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=[=(,:[!&|?{};\n]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g

/** An import or re-export of a source file. */
export interface Import {
  /** A path relative to the root of the repository, or a package name. */
  readonly target: string
  /** Whether the compiler erases it. It keeps `import { type A }` as `import {}`. */
  readonly type: boolean
}

const withoutComments = (text: string): string => text.replace(token, (part) => (/^\/[/*]/u.test(part) ? ' ' : part))

const statement =
  /(?:^|[;}])\s*(?:import|export)\s+(type\s+)?(?:(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s*as\s+[\w$]+)?)?\s*from\s*)?['"]([^'"]+)['"]/gm
const dynamic = /\b(?:import|require)\s*\(\s*(?:['"`]([^'"`$]+)['"`]\s*[,)])?/g

/** Returns every static and dynamic import of a file. Ignores comments and strings. */
export function importsOf({ path, text }: Source): readonly Import[] {
  const code = withoutComments(text)
  const imports = [...code.matchAll(statement)].map(([, type, name = '']) => ({ name, type: type !== undefined }))
  for (const [, name = '(computed)'] of code.matchAll(dynamic)) imports.push({ name, type: false })
  return imports.map(({ name, type }) => ({
    target: name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
    type,
  }))
}
