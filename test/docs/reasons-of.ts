// Finds the reasons of events in the sources: what is passed or returned under the name `reason` or `failure`.

// The TypeScript that checks this repository has no parser for programs.
import ts from 'typescript-oldest'
import type { Source } from '../architecture/source-files.ts'

const form = /^[a-z][a-z\d]*(?:_[a-z\d]+)*$/u
const isReasonName = (name: string): boolean => /^(?:reason|failure|why)$/u.test(name)

/** The texts of constants of the sources, by their names. */
const constants = new Map<string, string>()

/** The texts that an expression can be. The variable parts of a template are `…`. */
function textsOf(node: ts.Node | undefined): readonly string[] {
  if (node === undefined) return []
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text]
  if (ts.isTemplateExpression(node))
    return [[node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…')]
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)]
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return textsOf(node.expression)
  if (ts.isIdentifier(node)) return [constants.get(node.text) ?? []].flat()
  if (ts.isUnionTypeNode(node)) return node.types.flatMap(textsOf)
  if (ts.isLiteralTypeNode(node)) return textsOf(node.literal)
  if (ts.isBinaryExpression(node)) return [...textsOf(node.left), ...textsOf(node.right)]
  return []
}

/** The texts that an element of a destructured array can be. */
function elementsOf(node: ts.Node | undefined, index: number): readonly string[] {
  if (node === undefined) return []
  if (ts.isArrayLiteralExpression(node)) return textsOf(node.elements[index])
  if (ts.isConditionalExpression(node))
    return [...elementsOf(node.whenTrue, index), ...elementsOf(node.whenFalse, index)]
  return ts.isAsExpression(node) || ts.isParenthesizedExpression(node) ? elementsOf(node.expression, index) : []
}

type Callable = ts.ArrowFunction | ts.FunctionDeclaration | ts.MethodSignature | ts.FunctionTypeNode
const isCallable = (node: ts.Node): node is Callable =>
  ts.isArrowFunction(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isMethodSignature(node) ||
  ts.isFunctionTypeNode(node)

function nameOf(node: ts.Node): string {
  const named = ts.isArrowFunction(node) || ts.isFunctionTypeNode(node) ? node.parent : node
  const { name } = named as { readonly name?: ts.Node }
  return name !== undefined && ts.isIdentifier(name) ? name.text : ''
}

/** Calls `found` for each reason that a function returns itself, not a function in it. */
function returnedBy(node: ts.Node, add: (text: string) => void): void {
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
    textsOf(node.body).forEach(add)
    return
  }
  const visit = (inner: ts.Node): void => {
    if (ts.isReturnStatement(inner)) textsOf(inner.expression).forEach(add)
    else if (!isCallable(inner)) ts.forEachChild(inner, visit)
  }
  ts.forEachChild(node, visit)
}

/** Returns the reasons in sources, each with the files that contain it. */
export function reasonsOf(files: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const parsed = files
    .filter(({ text }) => /reason|failure|refuse|why/iu.test(text))
    .map(({ path, text }) => ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true))
  const reasons = new Map<string, string[]>()
  /** The position of the reason among the parameters of a function, by file and name; `refuse` of a kit is in all files. */
  const positions = new Map<string, number>([['refuse', 2]])
  const walk = (file: ts.SourceFile, visit: (node: ts.Node) => void): void => {
    const each = (node: ts.Node): void => {
      visit(node)
      ts.forEachChild(node, each)
    }
    each(file)
  }
  for (const { text } of files)
    for (const [, name = '', value = ''] of text.matchAll(/^(?:export )?const (\w+) = '(\w+)'/gmu))
      constants.set(name, value)
  for (const file of parsed)
    walk(file, (node) => {
      if (!isCallable(node)) return
      const at = node.parameters.findIndex(({ name }) => ts.isIdentifier(name) && isReasonName(name.text))
      if (at < 0) return
      positions.set(`${file.fileName} ${nameOf(node)}`, at)
      const isExported =
        ts.isFunctionDeclaration(node) || ts.isMethodSignature(node) || ts.isVariableDeclaration(node.parent)
      if (isExported && nameOf(node) !== 'refuse') positions.set(nameOf(node), at)
    })
  for (const file of parsed) {
    const add = (text: string): void => {
      if (text.includes('…') ? !/^[a-z_…]+$/u.test(text) : !form.test(text)) return
      reasons.set(text, [...(reasons.get(text) ?? []), file.fileName])
    }
    walk(file, (node) => {
      if (ts.isPropertyAssignment(node) && isReasonName(node.name.getText(file))) textsOf(node.initializer).forEach(add)
      if (ts.isVariableDeclaration(node) && isReasonName(node.name.getText(file)))
        textsOf(node.initializer).forEach(add)
      if (ts.isVariableDeclaration(node) && ts.isArrayBindingPattern(node.name))
        for (const [index, element] of node.name.elements.entries())
          if (ts.isBindingElement(element) && isReasonName(element.name.getText(file)))
            elementsOf(node.initializer, index).forEach(add)
      if (ts.isPropertySignature(node) && isReasonName(node.name.getText(file))) textsOf(node.type).forEach(add)
      if (ts.isTypeAliasDeclaration(node) && /(?:Refusal|Rejection|Reason|FetchProblem)$/u.test(node.name.text))
        textsOf(node.type).forEach(add)
      if (ts.isCallExpression(node)) {
        const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
        const name = callee.getText(file)
        const count = node.arguments.length
        // The kit has a function with three arguments or more; others of this name get the reason alone.
        const at =
          name === 'refuse' && count !== 2
            ? Math.min(count - 1, 2)
            : (positions.get(`${file.fileName} ${name}`) ?? positions.get(name))
        if (at !== undefined) textsOf(node.arguments[at]).forEach(add)
      }
      if (ts.isFunctionDeclaration(node) || ts.isArrowFunction(node)) {
        const statement = ts.isArrowFunction(node) ? node.parent.parent?.parent : node
        const comment =
          statement === undefined ? '' : file.text.slice(statement.getFullStart(), statement.getStart(file))
        if (/Returns (?:the reason|why)/u.test(comment) || /[rR]eason|[fF]ailure|^refuses$/u.test(nameOf(node)))
          returnedBy(node, (text) => text.includes('_') && add(text))
      }
      if (
        ts.isVariableDeclaration(node) &&
        /^reasons$/u.test(node.name.getText(file)) &&
        node.initializer !== undefined
      )
        for (const value of node.initializer.getChildren().flatMap((child) => child.getChildren()))
          if (ts.isPropertyAssignment(value)) textsOf(value.initializer).forEach(add)
    })
  }
  return reasons
}
