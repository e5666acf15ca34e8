import { posix } from 'node:path'

/** A source file. */
export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

/** What it imports or exports from elsewhere. */
export interface Import {
  /** A path from the root of the repository, or the name of a package. */
  readonly target: string
  /** Erased by the compiler. `import { type A }` is not: it stays as `import {}`. */
  readonly type: boolean
}

const token =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=[=(,:[!&|?{};\n]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g

const withoutComments = (text: string): string => text.replace(token, (part) => (/^\/[/*]/u.test(part) ? ' ' : part))

const statement =
  /(?:^|[;}])\s*(?:import|export)\s+(type\s+)?(?:(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s*as\s+[\w$]+)?)?\s*from\s*)?['"]([^'"]+)['"]/gm
const dynamic = /\b(?:import|require)\s*\(\s*(?:['"`]([^'"`$]+)['"`]\s*[,)])?/g

/** Every import of a file, dynamic ones too; what stands in comments and strings is none. */
export function importsOf({ path, text }: Source): readonly Import[] {
  const code = withoutComments(text)
  const found = [...code.matchAll(statement)].map(([, type, name = '']) => ({ name, type: type !== undefined }))
  for (const [, name = '(computed)'] of code.matchAll(dynamic)) found.push({ name, type: false })
  return found.map(({ name, type }) => ({
    target: name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
    type,
  }))
}
