BEGIN;
INSERT INTO customers VALUES (27, 'Zoë', 'zoë@example.org');
INSERT INTO customers VALUES (20, 'José Núñez  ', 'josé@example.org');
INSERT INTO customers VALUES (51, 'Niklaus  ', 'niklaus@example.org');
INSERT INTO customers VALUES (19, 'Barbara L.', 'barbara@example.org');
INSERT INTO customers VALUES (32, 'Mary  Ann', 'mary@example.org');
INSERT INTO customers VALUES (85, 'O''Neil, Tip (2)', 'Oneil@Example.Org ');
INSERT INTO customers VALUES (13, 'Linus  ', 'linus@example.org');
INSERT INTO customers VALUES (6, 'Ada Byron  ', 'ada@example.org');
INSERT INTO customers VALUES (61, 'Ada Byron (2)', ' ada@example.org');
INSERT INTO customers VALUES (54, 'Frances  ', 'frances@example.org');
INSERT INTO customers VALUES (50, ' Dennis', 'dennis@example.org');
INSERT INTO customers VALUES (29, 'O''Neil, Tip  ', 'oneil@example.org');
INSERT INTO customers VALUES (67, 'Ada Byron (2)', 'ADA@EXAMPLE.ORG');
INSERT INTO customers VALUES (65, 'Barbara L. (2)', 'Barbara@Example.Org ');
INSERT INTO customers VALUES (8, 'Grace H.  ', 'grace@example.org');
INSERT INTO customers VALUES (34, 'Ken', 'ken@example.org');
INSERT INTO orders VALUES (102, 6, '17.05.2024', 'A-100*9@0.1 ; PEN/blue*12@8.19 ;C-3*7 @0.29; BOX 12*12 @3.50 ;', 143.21, 'call ''before'' 9');
INSERT INTO orders VALUES (105, 27, '2023-03-22', 'A-100* 5@3.5', 17.5, NULL);
INSERT INTO orders VALUES (107, 51, '2022-07-19', ' C-3*2@0.10', 0.2, 'gift');
INSERT INTO orders VALUES (108, 54, '13.06.2022', 'é-1*2 @0.1 ;; C-3*3@4.35 ;', 13.25, NULL);
INSERT INTO orders VALUES (111, 67, '16.04.2024', 'C-3@19.95 ;;A-100*10@ 0.29', 22.85, NULL);
INSERT INTO orders VALUES (112, 51, '2024-08-21', ' ', 0.0, 'gift');
INSERT INTO orders VALUES (116, 54, '17.12.2023', 'PEN/blue*6@19.95;A-100*8@0.05;é-1*10@ 8.19;BOX 12 *2 @8.19', 218.38, NULL);
INSERT INTO orders VALUES (119, 65, '08.07.2023', ' ', 0.0, NULL);
INSERT INTO orders VALUES (122, 29, '23.09.2024', 'BOX 12*5@3.50;PEN/blue*6@12.00', 89.5, 'two
lines');
INSERT INTO orders VALUES (126, 54, '2023-07-25', 'PEN/blue*9@4.35;', 39.15, '');
INSERT INTO orders VALUES (129, 51, '15.08.2022', 'C-3*5 @ 12;B-7 *4@8.19; PEN/blue*2@0.05;BOX 12*7@0.10 ;', 93.56, '');
INSERT INTO orders VALUES (131, 19, '14.03.2023', 'C-3*11@0.05;B-7*11@3.50;BOX 12*6@0.99;A-100 *9@ 0.05;', 45.44, NULL);
INSERT INTO orders VALUES (133, 20, '2022-06-24', NULL, 0.0, NULL);
INSERT INTO orders VALUES (135, 13, '2022-03-24', 'BOX 12*11 @ 3.5;', 38.5, '');
INSERT INTO orders VALUES (139, 34, '22.10.2023', 'B-7* 3@19.95 ', 59.85, '');
INSERT INTO orders VALUES (142, 32, '13.06.2023', ' B-7*5@1.15;PEN/blue *11 @4.35; B-7*10@ 4.35;é-1* 8@0.05;', 97.5, 'call ''before'' 9');
INSERT INTO orders VALUES (143, 19, '05.10.2023', '', 0.0, 'gift');
INSERT INTO orders VALUES (146, 8, '05.05.2022', 'A-100*10@3.50;é-1*2@ 19.95; C-3*10@3.50;é-1*3 @3.5', 120.4, NULL);
INSERT INTO orders VALUES (149, 54, '2022-09-27', 'é-1*5@ 19.95; PEN/blue* 8@0.05;B-7*10 @ 0.05; C-3*8@8.19 ', 166.17, 'call ''before'' 9');
INSERT INTO orders VALUES (151, 27, '2022-06-11', 'é-1*7@1.15;', 8.05, NULL);
INSERT INTO orders VALUES (153, 20, '12.12.2024', 'C-3*11@1.15; C-3*6@0.05;é-1 *2@ 4.35; é-1*7 @0.05;', 22.0, 'gift');
INSERT INTO orders VALUES (156, 13, '23.12.2022', 'é-1*11@0.99;PEN/blue*6@ 0.29;é-1*5 @1.15', 18.38, NULL);
INSERT INTO orders VALUES (157, 65, '2024-03-18', 'B-7* 12@3.5; BOX 12*9 @19.95;BOX 12* 3@8.19', 246.12, NULL);
INSERT INTO orders VALUES (159, 67, '2023-06-25', 'é-1*3@ 8.19;C-3*10 @ 0.29', 27.47, NULL);
INSERT INTO orders VALUES (163, 20, '2024-01-07', 'BOX 12@19.95;A-100 @ 8.19;BOX 12*2@8.19', 44.52, NULL);
INSERT INTO orders VALUES (166, 67, '2024-12-02', 'PEN/blue *12@ 3.50; é-1*5 @0.1', 42.5, 'call ''before'' 9');
INSERT INTO orders VALUES (170, 34, '2023-02-08', 'PEN/blue*11 @0.29 ;BOX 12*12@0.29 ;BOX 12* 7@8.19 ;B-7*5@0.29 ;', 65.45, 'two
lines');
INSERT INTO orders VALUES (174, 13, '2024-08-11', 'é-1 *4@19.95;é-1* 5@0.05', 80.05, 'two
lines');
INSERT INTO orders VALUES (178, 50, '15.02.2024', 'PEN/blue@4.35 ', 4.35, '');
INSERT INTO orders VALUES (179, 32, '2023-07-19', '', 0.0, 'two
lines');
INSERT INTO orders VALUES (180, 32, '2022-05-20', 'B-7*7 @ 19.95; BOX 12*2@12.0', 163.65, 'two
lines');
INSERT INTO orders VALUES (182, 65, '2023-02-13', 'A-100*6 @3.5;BOX 12*7@ 1.15;A-100*10@0.05; B-7*11@0.29 ', 32.74, 'gift');
INSERT INTO orders VALUES (185, 50, '2022-09-01', 'é-1*4 @1.15;A-100* 9@8.19;é-1*5 @3.5', 95.81, NULL);
INSERT INTO orders VALUES (187, 65, '2024-04-17', 'C-3 *6@4.35', 26.1, NULL);
INSERT INTO orders VALUES (188, 54, '28.03.2024', 'A-100*2@12.0', 24.0, 'two
lines');
INSERT INTO orders VALUES (190, 54, '2023-12-27', ' ', 0.0, NULL);
INSERT INTO orders VALUES (192, 32, '2023-06-23', 'BOX 12*10@0.99;é-1*9@8.19', 83.61, 'two
lines');
INSERT INTO orders VALUES (195, 27, '2024-12-19', 'PEN/blue *10 @0.99;A-100 *9@1.15;C-3*9@0.05', 20.7, NULL);
INSERT INTO orders VALUES (197, 85, '07.11.2024', 'A-100* 6@3.50 ;; BOX 12*4@ 19.95; é-1* 9@8.19; PEN/blue*9 @ 3.5', 206.01, 'call ''before'' 9');
INSERT INTO orders VALUES (201, 20, '06.12.2022', 'C-3 *4@1.15 ; A-100* 5@0.99 ;C-3 *8@3.5 ', 37.55, NULL);
INSERT INTO orders VALUES (205, 85, '2022-11-19', 'BOX 12*4@8.19; C-3@0.29;BOX 12 *12@4.35;é-1*10@0.29', 88.15, 'two
lines');
INSERT INTO orders VALUES (209, 20, '2023-08-12', '', 0.0, 'two
lines');
INSERT INTO orders VALUES (212, 51, '2022-11-07', 'é-1 * 8@3.5;;C-3*7@0.05; B-7*12@ 4.35;C-3*4@ 1.15;', 85.15, NULL);
INSERT INTO orders VALUES (216, 61, '2023-01-28', 'BOX 12* 10@ 0.29;é-1*11 @0.05;C-3@4.35;BOX 12 *5@19.95;', 107.55, 'call ''before'' 9');
INSERT INTO orders VALUES (220, 29, '2024-06-28', '', 0.0, 'two
lines');
INSERT INTO orders VALUES (224, 13, '02.03.2022', 'PEN/blue *11@ 19.95;C-3* 7@ 3.5;A-100*12@0.99', 255.83, NULL);
INSERT INTO orders VALUES (228, 32, '2024-04-23', 'C-3*4 @0.05;C-3 * 8@0.29; C-3*5@0.29', 3.97, NULL);
INSERT INTO orders VALUES (230, 20, '2022-07-11', ' A-100* 3@1.15; BOX 12*4@12.0;BOX 12*1@ 19.95;A-100*7@1.15', 79.45, '');
INSERT INTO orders VALUES (231, 13, '14.08.2024', ' B-7*8@0.29;PEN/blue *9@12.0; A-100*4@0.29;A-100*5@ 1.15', 117.23, NULL);
INSERT INTO orders VALUES (235, 20, '2022-03-09', 'C-3 @ 1.15;;BOX 12*3 @19.95', 61.0, NULL);
INSERT INTO orders VALUES (239, 8, '2023-01-14', ' PEN/blue*11@3.50', 38.5, '');
INSERT INTO orders VALUES (242, 85, '2022-01-20', NULL, 0.0, 'call ''before'' 9');
INSERT INTO orders VALUES (245, 51, '2022-02-01', 'C-3*12@0.29', 3.48, 'gift');
INSERT INTO orders VALUES (246, 34, '2024-06-03', 'A-100*3@ 19.95;é-1*3@4.35', 72.9, 'gift');
INSERT INTO orders VALUES (249, 50, '2022-07-06', 'B-7 *12 @0.29 ;PEN/blue * 8@0.99;BOX 12*10@3.50;é-1* 9@4.35', 85.55, 'call ''before'' 9');
INSERT INTO orders VALUES (250, 8, '2023-07-18', 'A-100*8 @0.29;é-1 *2@ 19.95; C-3*5 @19.95; C-3*2@4.35', 150.67, NULL);
INSERT INTO orders VALUES (254, 85, '2023-01-20', 'PEN/blue*9@3.50', 31.5, 'call ''before'' 9');
INSERT INTO orders VALUES (258, 51, '08.06.2023', 'C-3@4.35', 4.35, 'gift');
INSERT INTO orders VALUES (261, 32, '09.11.2022', ' BOX 12*6@0.05', 0.3, 'two
lines');
INSERT INTO orders VALUES (264, 67, '05.08.2024', 'B-7*7 @ 12.0;PEN/blue*12@8.19 ;BOX 12*6@0.29; A-100* 10@19.95', 383.52, NULL);
COMMIT;
