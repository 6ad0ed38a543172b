import ts from 'typescript';
import { dirname, join, normalize } from 'node:path/posix';

/** A source file, its path from the project's root. */
export interface Source {
  path: string;
  text: string;
}

/** Which part of the project a path belongs to: its folder, with the pure core and the wire names apart from the workflows' shell. */
function layerOf(path: string): string {
  return /^workflows\/(room\/|barista\/|delivery\/|messages\.)/.test(path) ? 'pure' : path.split('/')[0]!;
}

/** What each layer may import of the project (as values), and the packages that it is held to. A layer may always import itself. */
const LAYERS: Record<string, { layers: string[]; types?: string[]; packages?: RegExp }> = {
  pure: { layers: [], packages: /^luxon$/ },
  workflows: { layers: ['pure'], types: ['activities'], packages: /^(luxon|@temporalio\/(workflow|common))$/ },
  prisma: { layers: ['pure'], types: ['activities'] },
  activities: { layers: ['pure', 'prisma'], types: ['workflows', 'config'] },
  config: { layers: [] },
  'mcp-server': { layers: ['pure', 'prisma', 'activities', 'config'] },
  worker: { layers: ['pure', 'prisma', 'activities', 'config'] },
  stack: { layers: [] },
  cli: { layers: ['pure', 'prisma', 'activities', 'mcp-server', 'stack', 'config'] },
  // Its GitHub and GitLab are those of the tests.
  bench: { layers: ['pure', 'prisma', 'activities', 'mcp-server', 'stack', 'cli', 'config', 'test'] },
};

/** The folders that are scanned. */
export const scannedFolders = ['workflows', ...Object.keys(LAYERS).filter((layer) => layer !== 'pure' && layer !== 'workflows')];

/** Where a file may reach over its layer, and why. */
const EXCEPTIONS: Record<string, string> = {
  'prisma/new-migration.ts': 'stack', // a developer's command: it starts a throw-away PostgreSQL
  'worker/main.ts': 'stack', // what rooms need of a Temporal that others run
};

/** Imports that go against the one way that they may go. */
export function importViolations({ path, text }: Source): string[] {
  const layer = layerOf(path);
  const rule = LAYERS[layer];
  if (!rule) return [`${path}: no rule for the folder ${layer}/`];
  return importsOf(path, text).flatMap(({ specifier, typeOnly }) => {
    if (!specifier.startsWith('.')) {
      return rule.packages && !typeOnly && !rule.packages.test(specifier)
        ? [`${path}: imports ${specifier}, which ${layer} code may not`]
        : [];
    }
    const target = layerOf(normalize(join(dirname(path), specifier)));
    const allowed =
      target === layer || rule.layers.includes(target) || (typeOnly && rule.types?.includes(target)) || EXCEPTIONS[path] === target;
    return allowed
      ? []
      : [`${path}: imports ${specifier}; ${layer} may not import ${target}${rule.types?.includes(target) ? ' but by type' : ''}`];
  });
}

function importsOf(path: string, text: string): { specifier: string; typeOnly: boolean }[] {
  const found: { specifier: string; typeOnly: boolean }[] = [];
  visit(path, text, (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ specifier: node.moduleSpecifier.text, typeOnly: isTypeOnly(node.importClause) });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument && ts.isStringLiteral(argument)) found.push({ specifier: argument.text, typeOnly: false });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      found.push({ specifier: node.argument.literal.text, typeOnly: true });
    }
  });
  return found;
}

/** `import { type A, type B }` too: with verbatimModuleSyntax it would still load the module. */
function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

/** Where the real clock is read, to be handed on as `now`: the entry points. */
const CLOCK_ENTRIES = ['worker/main.ts', 'mcp-server/server.ts', 'prisma/new-migration.ts'];
/** Not the workflows' shell: there Date.now() is the workflow's own time. */
const CLOCK_FREE = ['pure', 'prisma', 'activities', 'mcp-server', 'worker'];
const SQL_CLOCK =
  /\b(now\s*\(\s*\)|current_timestamp|clock_timestamp|statement_timestamp|transaction_timestamp|localtimestamp|current_date)/i;

/** Reads of a clock in code that is told the time: `new Date()`, `Date.now`, luxon's own, and SQL's within texts. */
export function clockViolations({ path, text }: Source): string[] {
  if (!CLOCK_FREE.includes(layerOf(path)) || CLOCK_ENTRIES.includes(path)) return [];
  const found: string[] = [];
  const report = (node: ts.Node) => found.push(`${path}: ${node.getText().slice(0, 60)} reads a clock; take \`now\` as an argument`);
  visit(path, text, (node) => {
    if (ts.isNewExpression(node) && isNamed(node.expression, 'Date') && !node.arguments?.length) report(node);
    else if (ts.isCallExpression(node) && isNamed(node.expression, 'Date')) report(node);
    else if (ts.isPropertyAccessExpression(node) && isNamed(node.expression, 'Date') && node.name.text === 'now') report(node);
    else if (ts.isPropertyAccessExpression(node) && isNamed(node.expression, 'DateTime') && ['now', 'local'].includes(node.name.text))
      report(node);
    else if (ts.isCallExpression(node) && node.arguments.length === 0 && /^DateTime\.utc$/.test(node.expression.getText())) report(node);
    else if (
      (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) &&
      SQL_CLOCK.test(node.text)
    )
      report(node);
  });
  return found;
}

/** SQL and Prisma schemas: no default and no statement may read the database's clock. */
export function sqlClockViolations({ path, text }: Source): string[] {
  return text.split('\n').flatMap((line, index) => {
    const code = line.replace(/(--|\/\/).*$/, '');
    return SQL_CLOCK.test(code) || /@updatedAt\b/.test(code) ? [`${path}:${index + 1}: ${code.trim()} reads the database's clock`] : [];
  });
}

const STDOUT_FREE = ['pure', 'workflows', 'prisma', 'activities', 'mcp-server'];
/** Commands of their own, whose answer goes to stdout. */
const STDOUT_ENTRIES = ['prisma/new-migration.ts', 'mcp-server/main.ts'];

/** Writes to stdout in code that can run under `barista mcp`, whose stdout carries the protocol and nothing else. */
export function stdoutViolations({ path, text }: Source): string[] {
  if (!STDOUT_FREE.includes(layerOf(path)) || STDOUT_ENTRIES.includes(path)) return [];
  const found: string[] = [];
  visit(path, text, (node) => {
    if (!ts.isPropertyAccessExpression(node)) return;
    const { expression, name } = node;
    const toStdout =
      (isNamed(expression, 'console') && !['error', 'warn', 'trace'].includes(name.text)) ||
      (isNamed(expression, 'process') && name.text === 'stdout');
    if (toStdout) found.push(`${path}: ${node.getText()} writes to stdout, which belongs to the stdio protocol`);
  });
  return found;
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}

function visit(path: string, text: string, look: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    look(node);
    ts.forEachChild(node, walk);
  };
  walk(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
}
