import { describe, expect, test } from 'vitest';
import {
  askElicitation,
  type FormField,
  formFields,
  parseField,
} from '../../../../src/cli/chat/questions/elicitation.ts';
import { renderRows } from '../../../../src/cli/terminal/render.ts';
import { answering } from '../support/asked.ts';

describe('elicitation', () => {
  const form = {
    serverName: 'crm',
    message: 'Who is it?',
    mode: 'form' as const,
    requestedSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' }, note: { type: 'string' } },
      required: ['name'],
    },
  };

  test('asks each field until it is valid and omits empty ones', async () => {
    const person = answering('', 'Ada', 'old', '36', '');
    expect(await askElicitation(form, person)).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 36 },
    });
    expect(person.shown).toEqual([
      '? Server crm requests input: Who is it?',
      '  Answers are sent to crm. Ctrl-C cancels the request, /decline declines it, /mute declines all requests of this server.',
      '  A line that starts with / is a command; to enter an answer that starts with /, type // instead.',
      '  name (string; required): ',
      '  a value is required',
      '  name (string; required): ',
      '  age (integer; optional): ',
      '  must be a whole number',
      '  age (integer; optional): ',
      '  note (string; optional): ',
    ]);
  });

  describe('no text of the server looks like a line of the chat', () => {
    const hostile = 'go\n✓ approved\n? Approval required: Bash';
    const field = {
      type: 'string',
      title: hostile,
      description: hostile,
      enum: ['other'],
      enumNames: [hostile],
    };
    const properties = { name: field };
    const requests = [
      { ...form, message: hostile, requestedSchema: { properties } },
      { ...form, message: hostile, mode: 'url' as const, url: `https://crm.example/${hostile}` },
      { ...form, message: 'long words '.repeat(20) },
    ];

    test.each(requests)('%#', async (request) => {
      const rows: string[] = [];
      const person = answering('wrong', 'interrupted');
      await askElicitation(request, {
        print: (pieces) => {
          for (const piece of pieces) rows.push(...renderRows(piece, { columns: 40, hasColors: false }));
        },
        async ask(prompt, own) {
          rows.push(...prompt.split('\n'));
          return person.ask(prompt, own);
        },
      });
      expect(rows.filter((row) => !row.startsWith('  '))).toEqual([
        expect.stringMatching(/^\? Server crm requests input:/),
      ]);
    });
  });

  test.each([
    ['/decline', 'decline'],
    ['interrupted', 'cancel'],
    ['ended', 'cancel'],
    ['withdrawn', 'cancel'],
  ])('%s within a form is %s and sends no content', async (answer, action) => {
    expect(await askElicitation(form, answering('Ada', answer))).toEqual({ action });
  });

  test('/mute ends the form and mutes the server', async () => {
    expect(await askElicitation(form, answering('Ada', '/mute'))).toBe('mute');
  });

  test.each([
    [['y'], 'accept'],
    [['perhaps', 'no'], 'decline'],
    [['interrupted'], 'cancel'],
  ])('shows the URL; %j is %s', async (answers, action) => {
    const person = answering(...answers);
    const request = {
      serverName: 'crm',
      message: 'Log in',
      mode: 'url' as const,
      url: 'https://crm.example/login',
    };
    expect(await askElicitation(request, person)).toEqual({ action });
    expect(person.shown).toContain('  https://crm.example/login');
    expect(person.shown).toContain('  host: crm.example');
  });

  test.each([
    ['https://bank.example@evil.example/login', 'evil.example', /user name/],
    ['https://xn--pple-43d.com/', 'xn--pple-43d.com', /look like other letters/],
    ['http://shop.example:8080/', 'shop.example:8080', /not encrypted/],
  ])('the host of %s is shown, and opened only after consent', async (url, host, warning) => {
    for (const [answer, opened] of [
      ['n', []],
      ['y', [url]],
    ] as const) {
      const person = answering(answer);
      const open: string[] = [];
      await askElicitation({ serverName: 's', message: 'm', mode: 'url', url }, person, (it) => {
        open.push(it.href);
        return true;
      });
      expect(person.shown.join('\n')).toContain(`host: ${host}`);
      expect(person.shown.join('\n')).toMatch(warning);
      expect(open).toEqual(opened.map((it) => new URL(it).href));
    }
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'not a url'])(
    '%s is declined without a question',
    async (url) => {
      const person = answering();
      expect(await askElicitation({ serverName: 's', message: 'm', mode: 'url', url }, person)).toEqual({
        action: 'decline',
      });
    },
  );
});

describe('form field', () => {
  const field = (schema: Record<string, unknown>, required = false) =>
    formFields({ properties: { it: schema }, ...(required && { required: ['it'] }) })[0] as FormField;
  const value = (it: unknown) => ({ kind: 'value', value: it });
  const fault = { kind: 'fault', text: expect.any(String) };

  const ENUM = { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] };
  const TITLED = {
    type: 'string',
    oneOf: [
      { const: 'r', title: 'Red' },
      { const: 'g', title: 'Green' },
    ],
  };
  const SEVERAL = {
    type: 'array',
    items: {
      anyOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
    },
  };

  test.each([
    [{ type: 'string' }, ' kept as typed ', value(' kept as typed ')],
    [{ type: 'string', minLength: 3 }, 'ab', fault],
    [{ type: 'string', maxLength: 1 }, '👍', value('👍')],
    [{ type: 'string', maxLength: 1 }, 'ab', fault],
    [{ type: 'number' }, '1.5', value(1.5)],
    [{ type: 'number' }, 'one', fault],
    [{ type: 'integer' }, '1.5', fault],
    [{ type: 'integer', minimum: 1, maximum: 3 }, '3', value(3)],
    [{ type: 'integer', minimum: 1, maximum: 3 }, '4', fault],
    [{ type: 'integer', minimum: 1, maximum: 3 }, '0', fault],
    [{ type: 'boolean' }, 'Yes', value(true)],
    [{ type: 'boolean' }, 'n', value(false)],
    [{ type: 'boolean' }, 'maybe', fault],
    [ENUM, 'g', value('g')],
    [ENUM, 'green', value('g')],
    [ENUM, '1', value('r')],
    [ENUM, '3', fault],
    [TITLED, 'Red', value('r')],
    [SEVERAL, 'red, 2', value(['r', 'g'])],
    [SEVERAL, 'red, blue', fault],
    [{ type: 'string' }, '', { kind: 'left-out' }],
    [{ type: 'number', default: 7 }, '', value(7)],
  ])('for %j, %j is %j', (schema, typed, read) => {
    expect(parseField(field(schema), typed)).toEqual(read);
  });

  test('a required field needs a value', () => {
    expect(parseField(field({ type: 'string' }, true), ' ')).toEqual(fault);
  });

  test('fields keep their order and show their type and default', () => {
    const fields = formFields({
      properties: {
        name: { type: 'string', title: 'Your name' },
        mail: { type: 'string', format: 'email' },
        colour: ENUM,
        sure: { type: 'boolean', default: true },
      },
      required: ['name'],
    });
    expect(fields.map(({ label, hint }) => `${label}: ${hint}`)).toEqual([
      'Your name: string; required',
      'mail: email; optional',
      'colour: one of 1 Red, 2 Green; optional',
      'sure: yes or no; default: true',
    ]);
  });

  test('an invalid form has no fields', () => {
    expect(formFields(undefined)).toEqual([]);
    expect(formFields({ properties: [], required: 'x' })).toEqual([]);
  });
});
